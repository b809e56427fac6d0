"""The fuzzer itself, and a few mutants of each kind; `make fuzz` takes thousands, and under a guard."""

import subprocess
import sys

import pytest

from tests.fuzz import dumps, events, fuzz, guarded, verbs


@pytest.mark.parametrize(("first", "count"), [
    (0, len(fuzz.FOUND) + 10), pytest.param(len(fuzz.FOUND) + 10, 150, marks=pytest.mark.thorough)])
def test_no_mutant_breaks_anything(first, count, tmp_path):
    """Bad input gives an answer or an ApplierError, and no memory is read or written past its end."""
    try:
        environment = guarded.environment(tmp_path)
    except guarded.NoCompiler:
        environment = None  # without the guard fewer defects show
    assert fuzz.run("some", first, count, tmp_path, environment) == []


@pytest.mark.parametrize("made, sources", [(fuzz.mutant, fuzz.sources), (events.mutant, None), (dumps.mutant, None)])
def test_mutants_are_damaged_and_always_the_same(made, sources):
    some = [made(number) for number in range(50)]
    assert some == [made(number) for number in range(50)]
    whole = {*(path.read_bytes() for path in events.sources()), *dumps.sources(), *(sources() if sources else ())}
    assert sum(data in whole for data in some) < 5


def test_mutants_of_events_reach_what_is_behind_the_checksums():
    """All kinds of events with rows are among them, those of MariaDB and compressed ones, in files of whole pages."""
    some = [events.mutant(number) for number in range(300)]
    assert all(len(data) % fuzz.PAGE == 0 for data in some)
    kinds = {event[4] for data in some for event in events.cut(data, 4)}
    assert kinds >= {events.TABLE_MAP, events.PAYLOAD, events.PARTIAL_UPDATE, 23, 30, 31, 32, 162, 165, 166, 167}


def test_the_files_that_are_damaged_are_whole_before(tmp_path):
    """Else the fuzzer would not get past what it did itself; all but the last event count, down to the page's end."""
    for number, data in enumerate(fuzz.sources()):
        path = tmp_path / f"binlog.{number:06d}"
        path.write_bytes(data)
        assert len(data) % fuzz.PAGE == 0
        assert verbs.read(path, number) == "ok" or fuzz.SOURCES[number] == "mariadb-old-temporal"
        assert verbs.replay(path, number, define_from_log=False) == "ok"
        assert "ok" in verbs.feed(path, 2 * number) or fuzz.SOURCES[number] == "mariadb-old-temporal"


def test_what_breaks_is_named_and_kept(tmp_path, monkeypatch):
    """The child dies of some mutants and another error comes of one: the run names them, and continues after each."""
    monkeypatch.setattr(fuzz, "__file__", str(tmp_path / "broken.py"))
    (tmp_path / "broken.py").write_text(
        "import os, pathlib, sys\nfirst, last, folder = int(sys.argv[3]), int(sys.argv[4]), pathlib.Path(sys.argv[5])\n"
        "for number in range(first, last):\n"
        "    (folder / 'done').write_text(str(number))\n"
        "    if number == 1:\n        (folder / 'raised').write_text('1 KeyError: x\\n')\n"
        "    if number in (3, 5):\n        os.abort()\n")
    broken = fuzz.run("events", 0, 8, tmp_path)
    assert [line.split(":")[0] for line in broken] == ["events 1", "events 3", "events 5"]
    assert "KeyError: x" in broken[0] and "events.000001" in broken[0]


def test_the_guard_finds_a_byte_read_past_the_end(tmp_path):
    """A read of the block is none; one behind it ends the process by a signal, and so does one after it is freed."""

    environment = guarded.environment(tmp_path)
    program = ("import ctypes, sys; c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p\n"
               "block = c.malloc(ctypes.c_size_t(4096)); at = block + int(sys.argv[1])\n"
               "if sys.argv[2] == 'freed': c.free(ctypes.c_void_p(block))\n"
               "ctypes.string_at(at, 1)\n")
    codes = [subprocess.run([sys.executable, "-c", program, *words], env=environment, check=False).returncode
             for words in (("0", "kept"), ("4095", "kept"), ("4096", "kept"), ("0", "freed"))]
    assert codes == [0, 0, -11, -11]
