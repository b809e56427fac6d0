"""`applier.binlog.open`: the examples of its documentation run, and nothing is read before it is asked for (EV-ACC)."""

import re
import subprocess
import sys
import textwrap
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import applier.binlog
from applier.binlog.archive import reader
from applier.binlog.events import contents
from applier.errors import ArchiveError
from tests.support.folders import CASES, ROOT


def run_example(code: str, directory: Path) -> str:
    out = StringIO()
    with redirect_stdout(out):
        exec(textwrap.dedent(code).replace("/backup/binlogs", str(directory)), {"applier": applier})
    return out.getvalue()


def test_the_example_in_the_docs_runs():
    page = (ROOT / "docs" / "EVENTS.md").read_text()
    [code] = re.findall(r"```python\n(import applier\.binlog\n.*?)```", page, re.DOTALL)
    lines = run_example(code, CASES / "ddl-mysql").splitlines()
    assert any(re.match(r"binlog\.00000\d:\d+ \S+ ALTER ", line) for line in lines)
    assert re.match(r"\d+ row events of \w+\.\w+", lines[-1])


@pytest.mark.parametrize("documented", [applier.binlog.open, reader])
def test_the_examples_in_docstrings_run(documented):
    text = textwrap.dedent(documented.__doc__ if documented is reader else "    " + documented.__doc__)
    [code] = re.findall(r"\n\n((?: {4}.*\n|\n)+)", text)
    assert re.search(r"binlog\.00000\d \d+ \w+ ALTER ", run_example(code, CASES / "ddl-mysql"))


def test_events_come_in_the_order_of_the_archive():
    events = list(applier.binlog.open(str(CASES / "many-files-mysql")))
    names = [event.file for event in events]
    assert names == sorted(names) and len(set(names)) == len(list((CASES / "many-files-mysql").glob("binlog.0*")))
    assert all(event.position + event.size == event.end_log_pos for event in events)  # GRP-6
    assert [event.name for event in events[:2]] == ["FORMAT_DESCRIPTION", "PREVIOUS_GTIDS"]
    assert all(event.format.flavour == "mysql" and event.checksum > 0 for event in events)


def test_a_body_is_parsed_when_it_is_asked_for(monkeypatch):
    """EV-ACC: once, and not before."""
    asked = []
    monkeypatch.setattr(reader, "content_of", lambda event: asked.append(event.position) or contents.content_of(event))
    events = list(applier.binlog.open(str(CASES / "ddl-mysql" / "binlog.000001")))
    assert not asked
    query = next(event for event in events if event.name == "QUERY")
    assert query.content is query.content and asked == [query.position]


def test_events_within_compressed_ones():
    for case, outer, inner in (("compressed-mysql", "TRANSACTION_PAYLOAD", {"QUERY", "TABLE_MAP", "WRITE_ROWS", "XID"}),
                               ("compressed-mariadb", "WRITE_ROWS_COMPRESSED_V1", {"WRITE_ROWS_V1"})):
        event = next(event for event in applier.binlog.open(str(CASES / case)) if event.name == outer)
        assert {part.name for part in event.events()} == inner
        assert all((part.position, part.within, part.checksum) == (event.position, event, None)
                   for part in event.events())
    plain = next(iter(applier.binlog.open(str(CASES / "ddl-mysql"))))
    assert list(plain.events()) == []


def test_an_error_names_the_file(tmp_path):
    data = (CASES / "many-files-mysql" / "binlog.000001").read_bytes()
    path = tmp_path / "binlog.000001"
    path.write_bytes(data[:-3])
    seen = []
    with pytest.raises(ArchiveError) as caught:
        seen.extend(event.position for event in applier.binlog.open(str(path)))
    assert (caught.value.file, caught.value.mysql_errno) == (str(path), 1610)


def test_it_needs_neither_spark_nor_numba():
    program = ("import sys, applier.binlog\n"
               f"n = sum(event.content is not None for event in applier.binlog.open({str(CASES / 'ddl-mysql')!r}))\n"
               "print(n > 100, {'numba', 'pyspark'} & set(sys.modules))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "True set()\n"
