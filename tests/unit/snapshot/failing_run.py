"""Jobs whose calls of the operating system fail, one after the other: python failing_run.py JOB, under failing_calls.c,
with FAIL_BELOW as the folder in which it works. Fails where a job ends in anything but its result or an error that says
what cannot be read or written, leaves an output that is neither absent nor complete, changes what it reads, or where it
cannot be done again afterwards. Prints how many calls failed, and how many of the jobs ended in an error."""

import ctypes
import errno
import itertools
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from applier.binlog.locating import search
from applier.binlog.locating import search as indexes
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.exporting.job import export_snapshot
from applier.jobs.importing import sorted_rows
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.jobs.replay.snapshots_at import replay_with as replay_to_places
from applier.jobs.verify.files import verify
from applier.options import ExportOptions, ImportOptions, ReplayOptions
from tests.support.small_logs import CREATE, commit, insert, new_log, update

ROOT = Path(os.environ["FAIL_BELOW"])
LOG, BASE, OUT, DUMP, SPILL = (ROOT / name for name in ("log", "base", "out", "dump.sql", "spill"))
ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES)
ROWS = [(number, number, "x" * 9) for number in range(40)]
preloaded = ctypes.CDLL(None)


def make() -> tuple[str, int]:
    """The log, a base that holds its first half, and a dump; the place of the log's middle."""
    LOG.mkdir(parents=True)
    with new_log(LOG) as log:
        log.query("CREATE TABLE other (a INT)", "shop")
        commit(log, insert(ROWS))
        middle = "binlog.000001", log.position
        commit(log, update([ROWS[7]], [(7, 8, "y")]))
    replay_with(ThisProcess(), ReplayOptions((str(LOG),), str(BASE), stop_position=middle))
    rows = ", ".join(f"({number * 7 % 40}, {number}, 'x')" for number in range(40))
    DUMP.write_text(f"CREATE DATABASE shop; USE shop;\n{CREATE};\nINSERT INTO item VALUES {rows};\n"
                    "INSERT INTO item VALUES (100, 1, 'x'), (99, 2, 'y');\nINSERT INTO item VALUES (90, 1, 'x');\n")
    SPILL.mkdir()
    tempfile.tempdir = str(SPILL)
    sorted_rows.SortedRows.__init__.__kwdefaults__["chunk_bytes"] = 1  # each INSERT is a run of its own
    return middle


def jobs(middle: tuple[str, int]) -> dict[str, Callable[[], object]]:
    def replay() -> None:
        replay_with(ThisProcess(), ReplayOptions((str(LOG),), str(OUT), base=str(BASE), exec_mode="idempotent"))

    def several() -> None:
        replay_to_places(ThisProcess(), ReplayOptions((str(LOG),), str(OUT), snapshot_at=(middle,)))

    def imported() -> None:
        import_dump(ImportOptions(str(DUMP), str(OUT)))

    def exported() -> None:
        export_snapshot(ExportOptions(str(BASE), str(OUT), "tsv"))

    def indexed() -> None:
        search.index(str(LOG))

    return {"replay": replay, "snapshot-at": several, "import": imported, "export": exported, "index": indexed}


def contents(folder: Path) -> dict[str, int]:
    """All files below a folder but indexes, with a checksum of each."""
    return {str(path.relative_to(ROOT)): zlib.crc32(path.read_bytes()) for path in folder.rglob("*")
            if path.is_file() and path.name != indexes.INDEX_NAME}


def check_output(name: str, whole: dict[str, int] | None) -> bool:
    """Return whether it is there, and then complete; `whole` is what another run made, where that always is the
    same."""
    if name == "index":
        place = LOG / indexes.INDEX_NAME
        assert not place.exists() or indexes.load(str(place)), "an index that cannot be read"
        return place.exists()
    if name == "export":
        assert not (OUT / "_load.sh").exists() or whole in (None, contents(OUT)), "an export that is not whole"
        return (OUT / "_load.sh").exists()
    last, snapshots = ("_snapshots.json", list(OUT.glob("*-*"))) if name == "snapshot-at" else ("_snapshot.json", [OUT])
    if not (OUT / last).exists():
        return False
    for snapshot in snapshots:
        assert not verify(str(snapshot)).damaged
    return True


def remove_output(name: str) -> None:
    if name == "index":
        (LOG / indexes.INDEX_NAME).unlink(missing_ok=True)
    else:
        shutil.rmtree(OUT, ignore_errors=True)


def ended(job: Callable[[], object]) -> int:
    """The exit code that the command line has."""
    try:
        job()
    except ApplierError as error:
        assert error.file or error.table, f"an error that does not say where: {error}"
        return error.exit_code
    return 0


def main(name: str, where: str) -> None:
    if where == "in-place":
        os.path.ismount = lambda path: path == str(OUT)
    job = jobs(make())[name]
    assert ended(job) == 0
    check_output(name, None)
    whole = contents(OUT) if name == "export" else None
    remove_output(name)
    inputs = {folder: contents(folder) for folder in (LOG, BASE)}
    errors = total = 0
    for number in itertools.count(1):
        preloaded.fail_at(ctypes.c_long(number), ERRORS[number % len(ERRORS)])
        code = ended(job)
        happened = preloaded.calls() >= number
        preloaded.fail_at(ctypes.c_long(0), 0)
        assert code in (0, 2), f"call {number} ends with {code}"
        assert check_output(name, whole) or code == 2, f"call {number}: no output, and no error"
        assert {folder: contents(folder) for folder in inputs} == inputs, f"call {number} changed what is read"
        if not check_output(name, whole):
            job()  # again, as if nothing had been
            assert check_output(name, whole)
        remove_output(name)
        if not happened:
            break
        total, errors = total + 1, errors + (code == 2)
    assert ended(job) == 0 and check_output(name, whole)
    left = sorted(path.name for path in ROOT.iterdir())
    assert left == sorted({"log", "base", "dump.sql", "spill", *([] if name == "index" else ["out"])}), left
    assert not list(SPILL.iterdir()) and len(list(LOG.iterdir())) == 1 + (name == "index")
    print(total, errors)


if __name__ == "__main__":
    main(*sys.argv[1:])
