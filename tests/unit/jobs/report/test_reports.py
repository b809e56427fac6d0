"""`_report.json`, and what `applier report` makes of it: on the terminal, and as a page that needs nothing else."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier import cli
from applier.cli.output.status import REPORT
from applier.engine.executor import ThisProcess
from applier.errors import SnapshotError
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.result import ReplayResult
from applier.jobs.report.loading import LISTED, load_report
from applier.jobs.report.page import html_page
from applier.options import ReplayOptions
from applier.plan import units
from tests.support.examples import examples
from tests.support.mutated_json import mutants
from tests.support.small_logs import commit, delete, insert, new_log, update

ROWS = [(number, number, "x") for number in range(150)]
WITHOUT_END_TAG = {"meta", "br", "img", "link", "rect"}


@pytest.fixture(scope="module")
def recovered(tmp_path_factory):
    """A snapshot of a run in idempotent mode: 150 inserts of existing rows, 2 updates, 1 delete of no row; and of
    a table without a usable key, with a name that means something to HTML."""
    folder = tmp_path_factory.mktemp("recovered")
    with new_log(folder) as log:
        log.query("CREATE TABLE `a<b>&c` (t VARCHAR(9), UNIQUE KEY k (t)) COLLATE utf8mb4_klingon_ci", "shop")
        commit(log, insert(ROWS))
        commit(log, insert(ROWS), delete([(999, 1, "no")]))
        commit(log, update(ROWS[:2], [(0, 1, "y"), (1, 2, "y")]))
    output = folder / "out"
    result = replay_with(ThisProcess(), ReplayOptions((str(folder),), str(output), exec_mode="idempotent"))
    return output, result


class Page(HTMLParser):
    """The page's text, and whether its tags close in order."""

    def __init__(self, html: str):
        super().__init__()
        self.open, self.tags, self.words, self.attributes = [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in WITHOUT_END_TAG:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag in WITHOUT_END_TAG or self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_the_report_as_json(recovered):
    output, result = recovered
    report = json.loads((output / "_report.json").read_text())
    assert list(report) == ["format_version", "position", "gtid_set", "timestamp", "tables", "seconds", "notes",
                            "exec_mode", "route", "conflicts", "units", "zero_dates", "skipped_statements",
                            "left_out", "witness"]
    assert (report["format_version"], report["exec_mode"], report["route"]) == (1, "idempotent", "walk")
    assert (report["conflicts"], report["units"], report["zero_dates"], report["notes"]) == (151, 1, 0, [])
    assert list(report["seconds"]) == ["outline", "plan", "apply"] and all(report["seconds"].values())
    other, item = report["tables"]
    assert item.pop("seconds") > 0
    written = sum(file.stat().st_size for file in (output / "shop/item").iterdir())
    assert item == {
        "database": "shop", "name": "item", "rows": 150, "inserts": 300, "updates": 2, "deletes": 0,
        "key": "PRIMARY (id)", "files_written": 1, "files_carried": 0, "bytes_written": written,
        "found": {"primary": 2}, "conflicts": {"duplicate key": 150, "row not found": 1}, "units": 1, "ranges": 1,
        "tied": "", "warnings": [],
        "by_foreign_keys": 0, "partial_updates": 0, "documents": 0, "bytes_saved": 0,
        "zero_dates": {}}
    assert (other["name"], other["rows"], other["units"], other["found"]) == ("a<b>&c", 0, 0, {})
    assert ReplayResult.from_report(str(output), report) == result


def test_the_report_on_the_terminal(recovered, capsys):
    output, result = recovered
    assert cli.main(["report", str(output)]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert sum("duplicate key" in line and "PRIMARY" in line and "binlog.000001:" in line for line in lines) == LISTED
    assert f"… and {151 - LISTED} more" in shown and "151 conflicts were suppressed" in shown
    [item] = [line.split() for line in lines if line.startswith(" shop.item ")]
    assert item[1:5] == ["150", "300", "2", "0"] and "150 duplicate key, 1 row not found" in " ".join(item)
    seconds = next(table.seconds for table in result.tables if table.name == "item")
    assert item[-4:] == ["1", f"{seconds:.2f}", "1", "0"]  # units, their time, files written and carried over


def test_the_report_as_a_page(recovered, tmp_path):
    output, _ = recovered
    file = tmp_path / "report.html"
    assert cli.main(["report", str(output), "--html", str(file)]) == 0
    html = file.read_text()
    page = Page(html)
    assert page.tags.count("figure") == 4 and not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not [value for name, value in page.attributes if name in ("src", "href")] and "url(" not in html
    text = " ".join(" ".join(page.words).split())
    for part in ("Seconds by stage", "Row changes by table", "Updated and deleted rows, by what found them",
                 "Conflicts by table", "shop.item: 300 inserted, 2 updated", "shop.item: 2 primary key",
                 "shop.item: 150 duplicate key, 1 row not found", "Replayed to the end of the log",
                 f"The first {LISTED}", str(output / "_conflicts.parquet"), "shop.a<b>&c", "PRIMARY = 0",
                 "302 in", "idempotent", "binlog.000001:"):
        assert part in text, part
    assert "outline: " in text and "apply: " in text
    assert html.count("<tr>") == 2 + 2 + LISTED  # two heads, two tables


def test_a_page_of_a_run_without_conflicts_has_no_word_of_them(tmp_path):
    with new_log(tmp_path) as log:
        commit(log, insert(ROWS))
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path),), str(tmp_path / "out")))
    page = Page(html_page(load_report(str(tmp_path / "out"))))
    assert page.tags.count("figure") == 2 and "Conflicts" not in " ".join(page.words)


def test_the_page_says_which_stop_ended_the_replay(tmp_path):
    with new_log(tmp_path) as log:
        _, end = commit(log, insert(ROWS))
        commit(log, delete(ROWS))
    stop = ("binlog.000001", end)
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), stop_position=stop))
    text = " ".join(Page(html_page(load_report(str(tmp_path / "out")))).words)
    assert f"Stopped there by --stop-position binlog.000001:{end}: what came later is not in this snapshot." in text


def test_why_a_large_table_was_one_unit(tmp_path, monkeypatch, capsys):
    """DESIGN.md, Units: what must be one unit is counted, with the reason."""
    monkeypatch.setattr(units, "UNIT_BYTES", 500)
    monkeypatch.setattr(units, "LEAST_UNIT_BYTES", 1)
    with new_log(tmp_path) as log:
        for start in range(0, 150, 10):
            commit(log, insert(ROWS[start:start + 10]))
        commit(log, update([ROWS[0]], [(1000, *ROWS[0][1:])]))
    for mode, n_units in (("strict", None), ("idempotent", 1)):
        output = tmp_path / mode
        [table] = replay_with(ThisProcess(2), ReplayOptions((str(tmp_path),), str(output), exec_mode=mode)).tables
        assert table.ranges > 3 and table.units == (n_units or table.ranges)
        assert bool(table.tied) == (mode == "idempotent")
        assert cli.main(["report", str(output)]) == 0
        assert (f"1 unit of work instead of {table.ranges}" in capsys.readouterr().out) == \
            (mode == "idempotent")
        text = " ".join(Page(html_page(load_report(str(output)))).words)
        assert (f"1 instead of {table.ranges}: {table.tied}" in text) == (mode == "idempotent")


def test_keys_whose_duplicates_are_told_by_bytes_only_are_warned_of(tmp_path, capsys):
    """A collation of a later server's, in a unique key of a table that the log changes."""
    import pyarrow as pa

    from applier.schema.ddl.ddl import parse_statement
    from applier.writer.row_encoder import RowChanges

    create = "CREATE TABLE name (t VARCHAR(9) NOT NULL, UNIQUE KEY k (t)) COLLATE utf8mb4_klingon_ci"
    [created] = parse_statement(create, default_database="shop", flavour="mysql", server_charset="utf8mb4")
    with new_log(tmp_path) as log:
        log.query(create, "shop")
        commit(log, RowChanges(created.definition, after={"t": pa.array([b"a"])}))
    output = tmp_path / "out"
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path),), str(output)))
    assert cli.main(["report", str(output)]) == 0
    warning = "shop.name: duplicates in k are found by their bytes only: t is of collation utf8mb4_klingon_ci"
    assert warning in capsys.readouterr().out
    assert warning in html_page(load_report(str(output)))


@pytest.mark.thorough
@pytest.mark.slow
@settings(max_examples=examples(300))
@given(data=st.data())
def test_a_report_that_was_changed_is_whole_or_an_error(recovered, data):
    """What is loaded can be printed and plotted."""
    file = recovered[0] / "_report.json"
    whole = file.read_bytes()
    file.write_bytes(data.draw(mutants(json.loads(whole))))
    try:
        report = load_report(str(recovered[0]))
        REPORT.print(False, report)
        assert html_page(report)
    except SnapshotError as error:
        assert error.file == str(file)
    finally:
        file.write_bytes(whole)


@pytest.mark.parametrize("break_it, says", [
    (lambda folder: (folder / "_snapshot.json").unlink(), "not a complete snapshot"),
    (lambda folder: (folder / "_report.json").unlink(), "the report cannot be read"),
    (lambda folder: (folder / "_report.json").write_text("{"), "not a valid report"),
    (lambda folder: (folder / "_report.json").write_text('{"format_version": 99}'), "not a valid report"),
    (lambda folder: (folder / "_conflicts.parquet").write_bytes(b"x"), "the list of conflicts cannot be read"),
])
def test_reports_that_cannot_be_read(tmp_path, capsys, break_it, says):
    with new_log(tmp_path) as log:
        commit(log, delete(ROWS[:1]))
    replay_with(ThisProcess(), ReplayOptions((str(tmp_path),), str(tmp_path / "out"), exec_mode="idempotent"))
    break_it(Path(tmp_path / "out"))
    assert cli.main(["report", str(tmp_path / "out")]) == 2
    assert says in capsys.readouterr().err
