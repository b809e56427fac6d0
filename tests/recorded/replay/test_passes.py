"""A log that is larger than a pass: several passes hold what one pass holds, to the row, and say the same
(tests.support.passes). Recorded logs, in this process."""

import re
from contextlib import contextmanager, nullcontext
from unittest import mock

import pytest

from applier.jobs.importing.job import import_dump
from applier.mysql.values import zero_dates
from applier.options import ImportOptions
from applier.plan import ranges, units
from applier.schema.definition import table_schema
from applier.schema.table_filter import TableFilter
from applier.snapshot import manifest
from applier.snapshot.reader import read_unit
from tests.support.folders import CASES
from tests.support.passes import holds_the_same, log_bytes, run
from tests.support.real_server import Case, differences

NAMES = sorted(path.name for path in CASES.iterdir() if (path / "binlog.000001").exists())
EXCHANGING = {"ddl-mysql-partitions", "mysql-partition-ddl", "mariadb-partition-ddl", "mysql-misplaced-rows",
              "mariadb11-misplaced-rows"}
"""Tables that exchange rows: the changes of all of them count for one, of those that one plan knows of."""

MODES = "strict", "idempotent"
IN_BOTH = re.compile("strict|idempotent|target|diverged|error|failed|misplaced|cascade|partition|wide-tables-mysql")
"""In the names of logs that are replayed in both modes, such as those with conflicts. Others have the same rows in
both: they are replayed in one, and the log that follows in the other."""

REFUSED = TableFilter(ignored=(("mp", "j"), ("mp", "jx"), *(
    ("ig", file.name.split(".")[1]) for file in Case("mariadb-alter-ignore").expected().glob("ig.refused_*"))))
"""Tables whose ALTER IGNORE is refused, or which have two rows of one key for a time: what the others hold counts."""


TOLD_LATER = {"names-typed-mariadb": {"lower_case_table_names": 1}}
"""What only a later pass of a log could tell an earlier one, so that it must be given."""


@contextmanager
def few_rows_are_many():
    """Tables are divided into many units, also within the files of what the pass before has made."""
    with mock.patch.multiple(units, UNIT_BYTES=300, LEAST_UNIT_BYTES=1), \
            mock.patch.object(ranges, "HOT_BYTES", 1):
        yield


@pytest.mark.by_turns(one_in=7)
@pytest.mark.parametrize(("name", "mode"), [
    *((name, MODES[number % 2]) for number, name in enumerate(NAMES)),
    *(pytest.param(name, MODES[1 - number % 2], marks=pytest.mark.thorough)
      for number, name in enumerate(NAMES) if IN_BOTH.search(name))])
def test_recorded_logs_in_passes(name, mode, tmp_path):
    """GRP-2, AP-SNAP: real logs, with DDL, XA transactions, foreign keys, partial images and conflicts across the ends
    of passes; errors are the same, too. Half of them are divided as if a few rows were many, base files among them."""
    binlogs, place, known = Case(name).binlogs, mode == "idempotent", TOLD_LATER.get(name, {})
    number = NAMES.index(name)
    parts, route = (9, 3)[place], ("walk", "shuffle")[(number // 4 + place) % 2]
    once = run(binlogs, tmp_path / "once", exec_mode=mode, filter=REFUSED, **known)
    with few_rows_are_many() if (number // 8 + place) % 2 else nullcontext():
        result = run(binlogs, tmp_path / "passes", exec_mode=mode, pass_bytes=log_bytes(binlogs) // parts + 1,
                     route=route, filter=REFUSED, **known)
    holds_the_same(once, result, tmp_path, counts=name not in EXCHANGING)


def test_of_several_refused_statements_the_first_is_named(tmp_path):
    """The same one in passes."""
    binlogs = Case("mariadb-alter-ignore").binlogs
    once = run(binlogs, tmp_path / "once")
    assert "IGNORE" in once and run(binlogs, tmp_path / "out", pass_bytes=log_bytes(binlogs) // 4) == once


@pytest.mark.by_turns(one_in=4)
@pytest.mark.parametrize("name", ["transactions-mysql", "transactions-mariadb", "compressed-mysql", "key-moves-full"])
def test_a_place_to_stop_at_within_a_pass(name, tmp_path):
    """GRP-2, GRP-4: by position and by GTIDs, at every mark that a server recorded."""
    case = Case(name)
    for mark in case.marks:
        for kind, stop in (("position", (mark.file, mark.offset)), ("gtid", mark.gtid_set)):
            if not stop:
                continue
            for parts in (2, 7):
                output = tmp_path / f"{mark.name} {kind} {parts}"
                options = {f"stop_{kind}": stop, "pass_bytes": log_bytes(case.binlogs) // parts}
                result = run(case.binlogs, output, **options)
                assert differences(output, case.expected(mark)) == []
                assert (result.position, result.gtid_set) == (str(mark), mark.gtid_set)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("name", ["base-dump-mysql", "base-dump-mariadb"])
def test_passes_on_top_of_a_dump(name, tmp_path):
    """GRP-5, GRP-7: also of one that says only by its transactions where it stands."""
    case = Case(name)
    text = (case.folder / "base.sql").read_bytes()
    for kind, dump in (("file", text), ("set", text.replace(b"_LOG_FILE", b"_NO_FILE"))):
        here, base = tmp_path / kind, tmp_path / f"base by {kind}"
        here.mkdir()
        (tmp_path / "base.sql").write_bytes(dump)
        import_dump(ImportOptions(str(tmp_path / "base.sql"), str(base)))
        assert bool(manifest.load(str(base)).position.file) == (kind == "file")
        once = run(case.binlogs, here / "once", base=str(base))
        result = run(case.binlogs, here / "passes", base=str(base), pass_bytes=1_000)
        assert differences(here / "passes", case.expected()) == []
        assert manifest.load(str(here / "passes")).source.base == str(base)
        holds_the_same(once, result, here)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("name", ["zero-dates-mysql", "zero-dates-mariadb"])
def test_invalid_dates_that_are_gone_are_none(name, tmp_path):
    """--zero-dates error judges what the snapshot holds: not what ALTER has made texts and numbers of, but what it has
    made invalid dates of. In one pass and in several."""
    case = Case(name)
    result = run(case.binlogs, tmp_path / "out")
    held = 0
    for table in manifest.load(str(tmp_path / "out")).tables:
        schema = table_schema(table.definition)
        rows = read_unit(str(tmp_path / "out"), table.files, schema)
        by_column = {name: int(zero_dates.which(column).sum())
                     for name, column in zip(schema.names, rows.columns, strict=True) if zero_dates.has_any(column)}
        [found] = [one for one in result.tables if one.full_name == table.full_name]
        assert found.zero_dates == by_column
        held += sum(by_column.values())
    assert result.zero_dates == held > 0
    for parts in (1, 2, 5):
        pass_bytes = log_bytes(case.binlogs) // parts + 1
        assert run(case.binlogs, tmp_path / f"{parts}", pass_bytes=pass_bytes).zero_dates == held
        refused = run(case.binlogs, tmp_path / "refused", zero_dates="error", pass_bytes=pass_bytes)
        assert f"{held} dates are invalid and would become null: " in refused
