"""Logs of real servers are written again, and leave what the servers held."""

import pyarrow as pa
import pytest

import applier
from applier.jobs.rewrite.job import rewrite
from applier.options import RewriteOptions
from tests.support.folders import CASES
from tests.support.real_server import Case, differences
from tests.support.rewritten import outside_of_rows, wrong_places

REFUSED = ("idempotent", "incident", "json-diverged", "json-error", "json-target", "statement-m", "strict-", "target-",
           "row-image-empty", "mariadb-idempotent", "mariadb-strict", "mariadb-target", "mariadb-alter-ignore",
           "mariadb-versioning-ddl", "gtid-tags")
NAMES = sorted(path.parent.name for path in CASES.glob("*/case.json") if not path.parent.name.startswith(REFUSED))
REPLAYED = [name for name in NAMES if list(Case(name).binlogs)]
WIDE = ("minimal-defaults", "mariadb-minimal-defaults", "wide-tables-mysql", "wide-tables-mariadb")
"""Cases of thousands of columns, each of which costs as much as ten others."""


def binlogs(folder):
    return sorted(path for path in folder.iterdir() if path.suffix != ".index")


def written(case, output, image="minimal", compress=True, partial_json=False):
    return rewrite(RewriteOptions(tuple(map(str, case.binlogs)), str(output), image, compress, partial_json))


@pytest.mark.by_turns(one_in=8)
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.thorough if name in WIDE else ())
                                  for name in REPLAYED])
def test_rewritten_archives_leave_the_same_rows(name, tmp_path):
    """RW-SAME, RW-IMAGE, RW-PROOF: all else in the archive stays as it is."""
    case = Case(name)
    done = written(case, tmp_path / "out")
    files = binlogs(tmp_path / "out")
    assert [path.name for path in files] == [path.name for path in case.binlogs]
    assert outside_of_rows(*files) == outside_of_rows(*case.binlogs)
    assert wrong_places(*files) == []
    assert done.bytes_after <= done.bytes_before == sum(path.stat().st_size for path in case.binlogs)
    applier.replay(tmp_path / "out", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", case.expected()) == []


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", [
    "mysql-types-text", "mysql-types-json", "mysql-types-number-time", "json-partial-full", "json-partial-noblob",
    "row-image-noblob", "key-moves-full", "compressed-mysql", "row-metadata-full", "mariadb-types",
    "mariadb-types-text", "mariadb-old-temporal", "mariadb-row-image-full", "compressed-mariadb",
    "large-statements-mariadb"])
def test_once_more_it_does_not_change_at_all(name, tmp_path):
    """RW-SAME: every kind of value, image, compression and statement, on both servers."""
    written(Case(name), tmp_path / "out")
    rewrite(RewriteOptions((str(tmp_path / "out"),), str(tmp_path / "again"), "minimal", True))
    first, second = binlogs(tmp_path / "out"), binlogs(tmp_path / "again")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize(("name", "image", "compress"), [
    ("mysql-types-text", "noblob", False), ("mysql-types-json", "minimal", False), ("json-partial-full", None, True),
    ("mariadb-types-text", "noblob", True), ("compressed-mysql", "minimal", False), ("key-moves-full", None, True),
    ("compressed-mariadb", "noblob", False), ("mariadb-old-temporal", "minimal", False)])
def test_each_of_the_options(name, image, compress, tmp_path):
    """RW-ZIP, BLOB-R2, BLOB-R4: what is compressed stays so where nothing asks for it."""
    case = Case(name)
    written(case, tmp_path / "out", image, compress)
    files = binlogs(tmp_path / "out")
    assert outside_of_rows(*files) == outside_of_rows(*case.binlogs)
    assert wrong_places(*files) == []
    applier.replay(tmp_path / "out", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", case.expected()) == []


@pytest.mark.by_turns(one_in=5)
@pytest.mark.parametrize("name", ["key-moves-full", "json-partial-full", "mariadb-row-image-full"])
def test_complete_changes_are_the_same(name, tmp_path):
    """DEF-R2, JD-READ: what the log lacks is in the rows that it is about. Only positions differ."""
    case = Case(name)
    written(case, tmp_path / "out")
    tables = applier.replay(tmp_path / "out", tmp_path / "snapshot").snapshot.tables
    for table in tables:
        before, after = (pa.table(applier.changes(folder, table, complete=True)).drop_columns(["_pos", "_row", "_seq"])
                         for folder in (case.folder, tmp_path / "out"))
        versions = [changes.column("_commit_version").combine_chunks().dictionary_encode().indices
                    for changes in (before, after)]
        assert versions[0] == versions[1]
        assert before.drop_columns(["_commit_version"]) == after.drop_columns(["_commit_version"])


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize("name", ["mysql-types-json", "json-partial-full", "json-partial-noblob", "compressed-mysql"])
def test_json_diffs(name, tmp_path):
    """RW-JSON, JD-ENC: documents of a server become diffs, which lead to what it held."""
    case = Case(name)
    done = written(case, tmp_path / "out", partial_json=True)
    assert done.bytes_after <= written(case, tmp_path / "whole").bytes_after
    assert wrong_places(*binlogs(tmp_path / "out")) == []
    applier.replay(tmp_path / "out", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", case.expected()) == []


def test_gtids_with_tags(tmp_path):
    """GTID_TAGGED has the transaction's length, and its own, in numbers of variable length."""
    folder = CASES / "gtid-tags"
    done = rewrite(RewriteOptions((str(folder),), str(tmp_path / "out"), compress=True))
    assert done.ratio < 0.95
    assert outside_of_rows(*binlogs(tmp_path / "out")) == outside_of_rows(*binlogs(folder))
    assert wrong_places(*binlogs(tmp_path / "out")) == []


@pytest.mark.parametrize("name", ["statement-mysql", "incident-mariadb", "target-index-full"])
def test_what_cannot_be_replayed_is_not_written(name, tmp_path):
    """RW-PROOF, EV-INC: it could not be proven."""
    with pytest.raises(applier.ApplierError):
        written(Case(name), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
