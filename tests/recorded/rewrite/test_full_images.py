"""Logs of real servers get full images, which are those that the servers write themselves."""

import pytest

import applier
import applier.binlog
from applier.jobs.rewrite.job import rewrite
from applier.options import RewriteOptions
from tests.support.real_server import Case, differences
from tests.support.rewritten import outside_of_rows, plain_events, wrong_places


def rewritten(binlogs, output, image, **options):
    rewrite(RewriteOptions(tuple(map(str, binlogs)), str(output), image, **options))
    return sorted(path for path in output.iterdir() if path.suffix != ".index")


def row_events(binlogs):
    """Kind and content of each rows event, except for the table's id."""
    return [(event.name, bytes(event.body)[6:]) for event in plain_events(*binlogs)
            if event.name.endswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "_ROWS_V1"))]


def lacking(binlogs):
    """The events whose images lack a column."""
    found = []
    for event in plain_events(*binlogs):
        if event.name.endswith(("WRITE_ROWS", "UPDATE_ROWS", "DELETE_ROWS", "_ROWS_V1")):
            content = event.content
            found += [event for image in (content.before, content.after) if image is not None
                      and any(not image[n >> 3] >> (n & 7) & 1 for n in range(content.n_columns))]
    return found


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize(("name", "full"), [
    ("row-image-minimal", "row-image-full"), ("mariadb-row-image-minimal", "mariadb-row-image-full"),
    ("mariadb-row-image-noblob", "mariadb-row-image-full"), ("key-moves-minimal", "key-moves-full"),
    ("fk-cascade-mariadb-minimal", "fk-cascade-mariadb")])
def test_a_server_with_full_images_writes_the_same(name, full, tmp_path):
    """RW-FULL: the statements of a case, logged once with less and once with full images."""
    made = rewritten(Case(name).binlogs, tmp_path / "made", "full")
    written = rewritten(Case(full).binlogs, tmp_path / "written", "full")
    assert lacking(made) == []
    assert row_events(made) == row_events(written)
    assert outside_of_rows(*made) == outside_of_rows(*Case(name).binlogs)
    assert wrong_places(*made) == []
    applier.replay(tmp_path / "made", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", Case(name).expected()) == []


@pytest.mark.by_turns("image", one_in=4)
@pytest.mark.parametrize("image", ["minimal", "noblob"])
@pytest.mark.parametrize("name", [
    "mysql-types-text", "mysql-types-number-time", "mysql-types-json", "mysql-charsets", "mariadb-types",
    "mariadb-types-text", "mariadb-old-temporal", "fk-cascade-mysql", "many-files-mysql", "ddl-mysql-partitions",
    "online-change-ptosc-mariadb"])
def test_there_and_back_is_the_same_log(name, image, tmp_path):
    """RW-FULL: to the byte, of all types; of invalid dates, documents, and rows below foreign keys, too."""
    case = Case(name)
    less = rewritten(case.binlogs, tmp_path / "less", image)
    full = rewritten(less, tmp_path / "full", "full")
    assert [path.read_bytes() for path in full] == [path.read_bytes() for path in case.binlogs]


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", ["mysql-types-text", "mysql-types-number-time", "mariadb-types", "mariadb-types-text",
                                  "zero-dates-mysql", "zero-dates-mariadb"])
def test_values_of_a_base(name, tmp_path):
    """RW-FULL, AP-SNAP: a value that only a snapshot has becomes the server's bytes."""
    case = Case(name)
    [path] = case.binlogs
    begins = [event.position for event in applier.binlog.open(str(path)) if event.name in ("GTID", "MARIADB_GTID")]
    changes = [event.position for event in applier.binlog.open(str(path)) if "UPDATE_ROWS" in event.name]
    stop = max(begin for begin in begins if begin < changes[len(changes) // 2])
    applier.replay(path, tmp_path / "base", stop=(path.name, stop))
    made = []
    for binlogs in (case.binlogs, rewritten(case.binlogs, tmp_path / "less", "minimal", base=str(tmp_path / "base"))):
        made.append(rewritten(binlogs, tmp_path / f"full{len(made)}", "full", base=str(tmp_path / "base")))
    assert [path.read_bytes() for path in made[0]] == [path.read_bytes() for path in made[1]]


@pytest.mark.by_turns(one_in=3)
@pytest.mark.parametrize("name", ["compressed-mysql", "compressed-mariadb", "json-partial-minimal", "zero-dates-mysql",
                                  "transactions-mysql", "keys-made-mariadb", "ddl-mysql"])
def test_all_images_become_full(name, tmp_path):
    """RW-FULL, JD-WIRE: in payloads, and of documents that diffs have changed. What is never applied stays."""
    case = Case(name)
    full = rewritten(case.binlogs, tmp_path / "full", "full")
    assert lacking(full) == []
    assert outside_of_rows(*full) == outside_of_rows(*case.binlogs)
    assert wrong_places(*full) == []
    applier.replay(tmp_path / "full", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", case.expected()) == []


@pytest.mark.by_turns("image", one_in=2)
@pytest.mark.parametrize("image", [None, "full"])
@pytest.mark.parametrize("name", ["json-partial-full", "json-partial-minimal", "json-partial-noblob",
                                  "json-partial-odd", "compressed-mysql", "mysql-types-json"])
def test_whole_documents(name, image, tmp_path):
    """RW-DOC, JD-WIRE: of all diffs, from before-images or from what the log had before; nothing else changes, and the
    way back is the same log again."""
    case = Case(name)
    whole = rewritten(case.binlogs, tmp_path / "whole", image, full_json=True)
    names = [event.name for event in plain_events(*whole)]
    assert "PARTIAL_UPDATE_ROWS" not in names
    assert names == [event.name.replace("PARTIAL_", "") for event in plain_events(*case.binlogs)]
    assert wrong_places(*whole) == []
    if image is not None:
        assert lacking(whole) == []
    applier.replay(tmp_path / "whole", tmp_path / "snapshot")
    assert differences(tmp_path / "snapshot", case.expected()) == []
    again = rewritten(whole, tmp_path / "again", image, full_json=True)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in whole]


@pytest.mark.parametrize("name", ["json-partial-full", "json-partial-minimal"])
def test_documents_of_a_base(name, tmp_path):
    """RW-DOC: a before-image tells its document; one that only a snapshot has is unknown to the byte, and its diff
    stays and is named."""
    case = Case(name)
    path = case.binlogs[0]
    begins = [event.position for event in applier.binlog.open(str(path)) if event.name == "GTID"]
    changes = [event.position for event in applier.binlog.open(str(path)) if event.name == "PARTIAL_UPDATE_ROWS"]
    stop = max(begin for begin in begins if begin < changes[0])
    applier.replay(path, tmp_path / "base", stop=(path.name, stop))
    done = applier.rewrite([str(one) for one in case.binlogs], tmp_path / "out", full_json=True, base=tmp_path / "base")
    names = [event.name for event in plain_events(*sorted((tmp_path / "out").glob("*.0*")))]
    assert names.count("UPDATE_ROWS") > 10
    assert ("PARTIAL_UPDATE_ROWS" in names) is bool(done.notes) is (name == "json-partial-minimal")
