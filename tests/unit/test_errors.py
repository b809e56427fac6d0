import pickle

import pyarrow as pa
import pytest

from applier import errors

EXIT_CODES = {
    errors.ApplierError: 2, errors.UsageError: 2, errors.NotInstalled: 2, errors.ArchiveError: 2,
    errors.EncryptedBinlog: 2, errors.MissingFile: 2, errors.UnsupportedEvent: 2, errors.SnapshotError: 2,
    errors.ReplayStopped: 1, errors.UnsupportedStatement: 1, errors.SchemaError: 1,
    errors.NotComputable: 1, errors.UndoRefused: 1, errors.ServerDiffers: 1, errors.AnotherRun: 75,
    errors.StoreUnavailable: 75, errors.ServerAnswerError: 2,
}


def full_error(kind=errors.ReplayStopped):
    return kind("row not found", file="binlog.000003", position=1234, gtid="u:7", table="shop.orders", key="(12)",
                hint="replay with --stop-position binlog.000003:1100", errno=errors.KEY_NOT_FOUND)


def test_text_says_what_where_number_and_hint():
    assert str(full_error()) == (
        "row not found (at binlog.000003:1234, GTID u:7, table shop.orders, key (12)) [MySQL error 1032]. "
        "hint: replay with --stop-position binlog.000003:1100"
    )


def test_text_without_a_place_is_the_sentence_alone():
    assert str(errors.UsageError("no binlogs given.")) == "no binlogs given."
    assert errors.UsageError("no binlogs given").where == {}


def test_place_at_offset_zero_is_kept():
    assert "binlog.000001:0" in str(errors.ArchiveError("bad magic", file="binlog.000001", position=0))


def test_a_table_alone_is_named():
    assert str(errors.SchemaError("ALTER TABLE is not understood", table="a.b")) == (
        "ALTER TABLE is not understood (table a.b).")


@pytest.mark.parametrize("kind", EXIT_CODES)
def test_exit_code_and_pickling(kind):
    error = full_error(kind)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert (copy.where, copy.hint, copy.mysql_errno) == (error.where, error.hint, error.mysql_errno)
    assert copy.exit_code == EXIT_CODES[kind]


def test_every_error_has_its_exit_code_here():
    classes = [thing for thing in vars(errors).values() if isinstance(thing, type)]
    family = {kind for kind in classes if issubclass(kind, errors.ApplierError)}
    assert family == set(EXIT_CODES)


def test_a_tree_of_causes_becomes_a_line():
    """As deltalake has it, in colours, whether that goes to a terminal or not."""
    drawn = "Generic S3 error\n          \x1b[31m↳\x1b[0m HTTP error\n           \x1b[31m↳\x1b[0m end of file"
    assert errors.reason(OSError(drawn)) == "Generic S3 error: HTTP error: end of file"


@pytest.mark.parametrize("refused, said", [
    (lambda: b"\xe9".decode(), "bytes that are not text"),
    (lambda: pa.array([b"\xe9"]).cast(pa.string()), "bytes that are not text"),
    (lambda: "€".encode("latin-1"), "characters that the character set does not have"),
    (lambda: int("x"), "invalid literal for int() with base 10: 'x'")])
def test_what_a_library_refuses_is_said_in_one_plain_line(refused, said):
    with pytest.raises(ValueError) as error:
        refused()
    assert errors.NotComputable.because(error.value).message == said
