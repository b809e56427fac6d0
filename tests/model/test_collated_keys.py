"""Keys of text: a duplicate is what the column's collation takes for one (AP-IDEM, 1062), wherever its unit is."""

import gzip
import json

import pyarrow as pa
import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ReplayStopped
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.snapshot.reader import read_unit
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from keysearch.keybytes import encode_keys
from tests.support.folders import RECORDED
from tests.support.replica_model import DELETE, INSERT, UPDATE, Event, Table, apply, encoded_rows, keys_of

SERVER_COLLATIONS = RECORDED / "keysearch" / "server_collations.json.gz"
CODECS = {"utf8mb4": "utf8", "utf8mb3": "utf8", "latin1": "cp1252", "utf16": "utf-16-be", "latin2": "iso8859-2",
          "tis620": "tis-620"}


def table(collation, key="PRIMARY KEY (k)"):
    length = 256 if collation.startswith("latin1") else 64  # bytes 256 in the log
    return Table(f"k varchar({length}) COLLATE {collation} NOT NULL, a int, {key}", ["varchar(256)", "int"],
                 (b"", None), (0,))


def insert(*rows):
    return Event(INSERT, None, (1, 1), [(None, row) for row in rows])


@pytest.mark.parametrize("collation, first, second, same", [
    ("utf8mb4_0900_ai_ci", "a", "A", True), ("utf8mb4_0900_ai_ci", "e", "é", True),
    ("utf8mb4_0900_ai_ci", "a", "a ", False), ("utf8mb4_general_ci", "a", "Á ", True),
    ("utf8mb4_unicode_ci", "ss", "ß", True), ("utf8mb4_general_ci", "ss", "ß", False),
    ("utf8mb4_bin", "a", "a ", True), ("utf8mb4_bin", "a", "A", False), ("utf8mb4_0900_bin", "a", "a ", False),
    ("latin1_swedish_ci", "a", "A", True), ("utf8mb4_0900_as_cs", "a", "A", False),
    ("utf8mb4_0900_as_cs", "\u00e9", "e\u0301", True), ("utf8mb4_0900_as_ci", "a", "A", True),
    ("utf8mb4_da_0900_ai_ci", "aa", "\u00e5", True), ("utf8mb4_danish_ci", "aa", "\u00e5", True),
    ("latin1_german2_ci", "ae", "\u00e4", True), ("latin1_german1_ci", "ae", "\u00e4", False)])
def test_a_duplicate_is_one_by_the_collation(tmp_path, collation, first, second, same):
    """1062, of an insert and of an update."""
    rows = [(text.encode("latin1" if "latin1" in collation else "utf8"), 1) for text in (first, second, "z")]
    stopped = apply(table(collation), [insert(*rows[:2])], tmp_path / "i").stopped
    moved = apply(table(collation), [insert(rows[0], rows[2]), Event(UPDATE, (1, 1), (1, 1), [(rows[2], rows[1])])],
                  tmp_path / "u").stopped
    assert [[error.mysql_errno for error in errors] for errors in (stopped, moved)] == [[1062] * same] * 2
    if same:
        assert stopped[0].key == f"PRIMARY (k) = {second!r}"


def test_a_row_may_change_to_what_is_the_same_key(tmp_path):
    """The row itself is no duplicate of itself; the snapshot has what was written last."""
    events = [insert((b"a", 1), (b"b", 2)), Event(UPDATE, (1, 1), (1, 1), [((b"a", 1), (b"A", 3))]),
              Event(DELETE, (1, 1), None, [((b"b", 2), None)]), insert((b"B ", 4))]
    found = apply(table("utf8mb4_general_ci"), events, tmp_path)
    assert (found.rows, found.inserted, found.updated, found.deleted) == ([("A", 3), ("B ", 4)], 3, 1, 1)


@pytest.mark.parametrize("cut", ["m", "M", "\u1e3f"])
def test_keys_that_are_the_same_are_in_one_unit(tmp_path, cut):
    """Ranges are of what the collation compares: M, m and ḿ are never on two sides of a bound."""
    ci = table("utf8mb4_0900_ai_ci")
    [bound] = keys_of(ci, encoded_rows(ci, [(cut.encode(), None)]))
    rows = [("a", 1), ("M", 2), ("Z", 3)]
    base = [(text.encode(), number) for text, number in rows]
    found = apply(ci, [Event(UPDATE, (1, 1), (1, 1), [((b"M", 2), (b"m", 9))])], tmp_path / "a", base=base,
                  cuts=[bound])
    assert found.rows == [("a", 1), ("m", 9), ("Z", 3)]
    for same in ("m", "M", "\u1e3f"):
        [error] = apply(ci, [insert((same.encode(), 5))], tmp_path / same, base=base, cuts=[bound]).stopped
        assert error.mysql_errno == 1062


def test_of_a_prefix_key_the_prefix_counts(tmp_path):
    """A unique key over the first characters of a column: of characters, not of bytes."""
    prefix = table("utf8mb4_bin", "UNIQUE KEY u (k(2))")
    assert apply(prefix, [insert(("äb".encode(), 1), ("äc".encode(), 2))], tmp_path / "other").stopped == []
    [error] = apply(prefix, [insert(("äbc".encode(), 1), ("äbd".encode(), 2))], tmp_path / "same").stopped
    assert (error.mysql_errno, error.key) == (1062, "u (k) = 'äbd'")


RECORDED = json.loads(gzip.decompress(SERVER_COLLATIONS.read_bytes()))


@pytest.mark.parametrize("flavour, collation", [
    *(("mysql", name) for name in (
        "utf8mb4_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_zh_0900_as_cs", "utf8mb4_hu_0900_ai_ci",
        "utf8mb4_croatian_ci", "utf16_danish_ci", "gbk_chinese_ci", "euckr_korean_ci", "big5_chinese_ci",
        "gb18030_unicode_520_ci", "latin1_german2_ci", "latin2_czech_cs", "cp1250_czech_cs", "tis620_thai_ci")),
    *(("mariadb", name) for name in (
        "utf8mb4_croatian_ci", "utf8mb4_myanmar_ci", "utf8mb4_thai_520_w2", "utf8mb4_uca1400_spanish2_as_ci",
        "utf8mb3_uca1400_nopad_ai_cs", "utf16_uca1400_danish_as_cs", "euckr_korean_ci", "latin1_swedish_nopad_ci"))])
def test_what_a_server_takes_for_duplicates(tmp_path, flavour, collation):
    """Idempotent mode, over pairs of which a unique key of a real server refused the second one, or did not: it is the
    row that was there which the second insert of a pair replaces."""
    kind = RECORDED["kinds"][f"{flavour} {collation}"]
    pairs = [(pair, same) for pair, same in zip(RECORDED["own pairs"][kind],
                                                RECORDED["own equal"][f"{flavour} {collation}"], strict=True)
             if same != "." and not any("\x80" <= c < "\xa0" for c in "".join(pair))]  # some codecs lack these
    sql = f"CREATE TABLE d.t (n INT NOT NULL, k VARCHAR(60) COLLATE {collation}, side INT NOT NULL, UNIQUE u (n, k))"
    [created] = parse_statement(sql, server_charset="utf8mb4", flavour=flavour)
    encode = created.definition.columns[1].type.charset
    with BinlogWriter(str(tmp_path / "binlog.000001"), flavour=flavour) as log:
        log.query("CREATE DATABASE d")
        log.query(sql)
        for side in (0, 1):
            with log.transaction():
                log.rows(RowChanges(created.definition, after={
                    "n": pa.array(range(len(pairs)), pa.int32()), "side": pa.array([side] * len(pairs), pa.int32()),
                    "k": pa.array([pair[side].encode(CODECS.get(encode, encode)) for pair, _ in pairs])}))
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), exec_mode="idempotent"))
    snapshot = manifest.load(str(tmp_path / "out"))
    kept = read_unit(snapshot.uri, snapshot.table("d", "t").files,
                     pa.schema({"n": pa.int32(), "k": pa.string(), "side": pa.int32()}))
    sides = sorted(zip(kept["n"].to_pylist(), kept["side"].to_pylist(), strict=True))
    assert sides == [(n, side) for n, (_, same) in enumerate(pairs) for side in ((1,) if same == "=" else (0, 1))]
    assert {same == "=" for _, same in pairs} == {True, False}


def write(path, *changes):
    """A log of d.t with rows of these keys inserted, or updated from one to the next."""
    sql = "CREATE TABLE d.t (k VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY)"
    [created] = parse_statement(sql, server_charset="utf8mb4")
    positions = []
    with BinlogWriter(str(path)) as log:
        log.query("CREATE DATABASE d")
        log.query(sql)
        for before, after in changes:
            with log.transaction():
                images = {side: {"k": pa.array([key.encode() for key in keys])}
                          for side, keys in (("before", before), ("after", after)) if keys}
                log.rows(RowChanges(created.definition, **images))
            positions.append(log.position)
    return positions


def replayed(log, output, **options):
    replay_with(ThisProcess(), ReplayOptions((str(log),), str(output), **options))
    entry = manifest.load(str(output)).table("d", "t")
    return entry, read_unit(str(output), entry.files, pa.schema({"k": pa.string()}))["k"].to_pylist()


def test_a_base_of_an_older_program_goes_on(tmp_path):
    """Files that are in the order of their bytes: one unit reads them all, and its own are in the collation's."""
    log = tmp_path / "binlog.000001"
    middle, _, last = write(log, ([], ["a", "B", "c"]), (["B"], ["b"]), ([], ["A "]))
    entry, rows = replayed(log, tmp_path / "base", stop_position=(log.name, middle))
    assert (entry.key_rules, rows) == (("utf8mb4_general_ci",), ["a", "B", "c"])

    text = json.loads((tmp_path / "base" / manifest.MANIFEST).read_text())
    [old] = text["tables"]
    del old["key_rules"], text["digest"]
    bytes_of = encode_keys([pa.array(["B", "c"])])
    old["files"][0].update(min_key=bytes_of[0].hex(), max_key=bytes_of[1].hex())
    (tmp_path / "base" / manifest.MANIFEST).write_text(json.dumps(text))

    same, _ = replayed(log, tmp_path / "same", base=str(tmp_path / "base"), stop_position=(log.name, middle))
    assert (same.key_rules, same.files[0].min_key) == ((), b"B")          # its files are the base's
    with pytest.raises(ReplayStopped, match="already exists") as error:
        replayed(log, tmp_path / "out", base=str(tmp_path / "base"))
    assert error.value.mysql_errno == 1062
    after, rows = replayed(log, tmp_path / "out", base=str(tmp_path / "base"),
                           stop_position=(log.name, last - 1))
    assert (after.key_rules, rows) == (("utf8mb4_general_ci",), ["a", "b", "c"])
