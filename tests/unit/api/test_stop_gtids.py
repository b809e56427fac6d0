"""GRP-2: a GTID set that a log never reaches is an error in every verb that stops at one, and ignored in none."""

import pytest

import applier
from applier.errors import UsageError
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import CREATE

SOURCE = "00000000-0000-4000-8000-000000000001"
OTHER = "00000000-0000-4000-8000-00000000000f"
UNREACHABLE = {
    "mysql": {"2026-3-14": "a GTID set of MariaDB", f"{OTHER}:1": f"without transactions {OTHER}:1",
              f"{SOURCE}:1-9": f"without transactions {SOURCE}:5-9", f"{SOURCE}:1-2": "precede binlog.000002"},
    "mariadb": {f"{SOURCE}:1": "a GTID set of MySQL", "7-1-1": "without transactions 7-1-1",
                "0-1-9": "without transactions 0-1-9", "0-1-2": "precede binlog.000002"},
}


@pytest.fixture(params=["mysql", "mariadb"])
def log(request, tmp_path, monkeypatch):
    """Two files: the table and rows 1 to 3, a transaction each; the verbs are given the second, and a schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    with applier.binlog.Writer("logs/binlog.000001", flavour=request.param) as log:
        log.query(CREATE, "shop")
        for number in range(1, 4):
            if number == 3:
                log.rotate("logs/binlog.000002")
            with log.transaction():
                log.insert("shop.item", {"id": [number], "n": [0], "s": ["x"]})
    (tmp_path / "schema.sql").write_text(f"CREATE DATABASE shop; USE shop; {CREATE};")
    return request.param


VERBS = {
    "replay": lambda gtids: applier.replay("logs/binlog.000002", "out", schema="schema.sql", stop=gtids),
    "lake": lambda gtids: applier.replay("logs/binlog.000002", lake="lake", schema="schema.sql", stop=gtids),
    "places": lambda gtids: applier.replay("logs/binlog.000002", "out", schema="schema.sql", snapshot_at=[gtids]),
    "changes": lambda gtids: applier.changes("logs/binlog.000002", "shop.item", schema="schema.sql", stop=gtids),
    "complete": lambda gtids: applier.changes("logs/binlog.000002", "shop.item", schema="schema.sql", stop=gtids,
                                              complete=True),
    "history": lambda gtids: applier.history("logs/binlog.000002", "shop.item", schema="schema.sql", stop=gtids),
    "undo": lambda gtids: applier.undo("logs/binlog.000002", "undo.sql", schema="schema.sql", until=gtids,
                                       start="binlog.000002:4"),
    "summary": lambda gtids: applier.summary("logs/binlog.000002", stop=gtids),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_set_that_is_never_reached(verb, log, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    for gtids, why in UNREACHABLE[log].items():
        if verb == "places" and "GTID set of" not in why:
            why = "transactions .* are not all in the archive|before the place to stop at"
        with pytest.raises(UsageError, match=f"{why}|these binlogs contain nothing before the place to stop"):
            VERBS[verb](gtids)
        assert verb == "lake" or sorted(tmp_path.rglob("*")) == before
    reached = f"{SOURCE}:1-4" if log == "mysql" else "0-1-4"
    assert VERBS[verb](reached) is not None


def test_doctor_and_diff(log):
    base = applier.replay("logs", "base", stop="binlog.000002:4").snapshot
    for gtids, why in UNREACHABLE[log].items():
        found = applier.doctor("logs/binlog.000002", base=base, stop=gtids)
        assert any(why in check.found for check in found.problems), gtids
        with pytest.raises(UsageError, match=why):
            applier.diff(base, binlogs="logs/binlog.000002", stop=gtids)


def test_spark_source(log):
    pytest.importorskip("pyspark")
    from applier.jobs.spark_source.source import BinlogSource

    for gtids in UNREACHABLE[log]:
        source = BinlogSource({"path": "logs/binlog.000002", "table": "shop.item", "schema": "schema.sql",
                               "stopGtid": gtids})
        with pytest.raises(UsageError):
            source.schema()


def test_where_a_base_stands_is_no_place_before_it(log):
    gtids = f"{SOURCE}:1-3" if log == "mysql" else "0-1-3"
    base = applier.replay("logs", "base", stop=gtids)
    again = applier.replay("logs", "again", base=base.snapshot, stop=gtids)
    assert again.report.position == base.report.position
    earlier = f"{SOURCE}:1-2" if log == "mysql" else "0-1-2"
    with pytest.raises(UsageError, match=f"transactions {earlier}, at which the replay is to stop, precede"):
        applier.replay("logs", "earlier", base=base.snapshot, stop=earlier)


def test_chosen_transactions_that_the_log_does_not_have(log):
    """One of them there: the others are counted. None there: an error, or a note where all others are wanted."""
    known, unknown = (f"{SOURCE}:2", f"{OTHER}:5") if log == "mysql" else ("0-1-2", "9-1-5")

    def changes(**options):
        return applier.changes("logs", "shop.item", **options)

    with pytest.raises(UsageError, match=f"these binlogs contain none of the transactions {unknown}"):
        changes(gtids=unknown)
    some = changes(gtids=f"{known},{unknown}")
    assert some.to_arrow()["id"].to_pylist() == [1]
    assert some.notes == ("1 of the transactions of `gtids` are not in these binlogs",)
    rest = changes(exclude_gtids=unknown)
    assert rest.to_arrow()["id"].to_pylist() == [1, 2, 3]
    assert rest.notes == ("1 of the transactions of `exclude_gtids` are not in these binlogs",)
    assert changes(gtids=known).notes == changes(exclude_gtids=known).notes == ()


def test_an_empty_set_is_none(tmp_path):
    log_file = str(tmp_path / "binlog.000001")
    with BinlogWriter(log_file) as log:
        log.query(CREATE, "shop")
    with pytest.raises(UsageError, match="is not a place in a log"):
        applier.replay(log_file, tmp_path / "out", stop=" , ")
