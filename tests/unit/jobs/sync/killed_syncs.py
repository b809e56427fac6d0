"""A sync that is killed before a call of the operating system that changes something in its lake, in a catalog of
Iceberg or in Delta's tables: whichever it is, versions are complete or absent, no format is ahead of the lake, and
another sync reaches the end.

As `python -m tests.unit.jobs.sync.killed_syncs COUNT`: at this many calls, spread evenly over those of a sync of
several rounds with DDL, each in a lake of its own. Prints at which. With --merge-on-read after COUNT, of lakes that
merge on read, which are compacted after some rounds; with --partition, of tables with partitions.
"""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from pyiceberg.exceptions import NoSuchNamespaceError

import applier
from applier.jobs.publish.delta.marker import load_marker
from applier.jobs.publish.delta.storage import Storage
from applier.jobs.publish.iceberg.commits import COMPLETE
from applier.jobs.publish.states import POSITION
from tests.support import delta_readers, failing_calls, iceberg_readers
from tests.support.forked_runs import forked_runs
from tests.unit.jobs.sync.following_run import write_archive

PROGRAM = """
import ctypes
import applier.jobs.publish.iceberg.publication
from tests.unit.jobs.sync.following_run import begin, follow
calls = ctypes.CDLL(None)
def run(dies_at):
    begin(sys.argv[1])
    calls.die_at(ctypes.c_long(dies_at))
    follow(sys.argv[1], merges=False)
    return calls.changes()
"""
"""Of forked_runs, under failing_calls.c: how many calls a sync to the end made that change something."""
MERGING = PROGRAM.replace("merges=False", "merges=True")
DIVIDED = PROGRAM.replace("merges=False", "divided=True")
SCATTERED = 5
Rows = dict[str, list[dict[str, Any]]]
"""Those of tables, by their names."""


class Kills:
    """Syncs of one archive in a folder; `wanted` are the rows of its tables at each position where a step ends."""

    def __init__(self, folder: Path, run: Callable[[int], int | None], *, merges: bool = False):
        self.run, self._folder, self._work, self._merges = run, folder, folder / "work", merges
        steps = write_archive(folder, scattered=SCATTERED * merges)
        self.wanted = {step: rows(applier.replay(folder / "whole", folder / f"wanted/{number}", stop=step).snapshot.uri)
                       for number, step in enumerate(steps)}
        self._order = list(self.wanted)

    def begin_anew(self) -> None:
        """Leave nothing of what was done."""
        for place in (self._work, self._folder / "log"):
            shutil.rmtree(place, ignore_errors=True)

    def check(self, *, is_killed: bool) -> None:
        """Raises AssertionError where a version or a format is not what it must be."""
        stands, latest = -1, None
        if (self._work / "lake/_versions").exists():
            checked = applier.fsck(f"{self._work}/lake")
            assert not [line for line in checked.damaged if not (is_killed and line.startswith("LATEST:"))], checked
            for version in applier.versions(f"{self._work}/lake"):
                latest = str(version.position)
                assert rows(f"{self._work}/lake/_versions/{version.number:010}") == self.wanted[latest], version
            stands = -1 if latest is None else self._order.index(latest)
        formats = [self._iceberg(), *([] if self._merges else [self._delta()])]
        assert max(formats) <= stands, f"formats at steps {formats}, and the lake at {stands}"
        if not is_killed:
            assert {stands, *formats} == {len(self._order) - 1}

    def _iceberg(self) -> int:
        """At which step the catalog stands, with all its tables; -1: it has none."""
        catalog = iceberg_readers.catalog(self._work)
        try:
            said = catalog.load_namespace_properties("d")
        except NoSuchNamespaceError:
            said = {}
        names = iceberg_readers.names(self._work)
        if POSITION not in said:
            assert not names
            return -1
        assert said[COMPLETE] == "true"
        found = {name: as_rows(iceberg_readers.with_pyiceberg(catalog.load_table(tuple(name.split("."))))) for name in
                 names}
        assert found == self.wanted[said[POSITION]]
        return self._order.index(said[POSITION])

    def _delta(self) -> int:
        """The latest step at which a table of Delta stands; -1: there is none."""
        marker = load_marker(Storage(f"{self._work}/delta"))
        found, stands = dict[str, list[dict[str, Any]]](), [-1]
        for name in sorted({name for tables in self.wanted.values() for name in tables}):
            place = delta_readers.place(self._work / "delta", *name.split("."))
            if not DeltaTable.is_deltatable(place):
                continue
            position = next(said[POSITION] for said in DeltaTable(place).history() if POSITION in said)
            stands.append(self._order.index(position))
            found[name] = as_rows(delta_readers.with_deltalake(place))
            assert found[name] == self.wanted[position].get(name, [])
        if marker is not None and marker.complete:
            assert found == {name: [] for name in found} | self.wanted[marker.position]
            assert max(stands) <= self._order.index(marker.position)
        return max(stands)


def rows(snapshot: str) -> Rows:
    """Those of a snapshot at a path."""
    return {name: as_rows(table.to_arrow()) for name, table in applier.Snapshot(snapshot).tables.items()}


def as_rows(table: pa.Table) -> list[dict[str, Any]]:
    """In the order of their keys."""
    return table.sort_by("id").to_pylist()


@contextlib.contextmanager
def kills(folder: Path, *, merges: bool = False, divided: bool = False) -> Iterator[Kills]:
    """Kills in a new folder, of syncs to a lake of whole files, with partitions or not, or to one that merges on read.
    """
    program = MERGING if merges else DIVIDED if divided else PROGRAM
    with forked_runs(program, str(folder), LD_PRELOAD=str(failing_calls.built(folder)),
                     FAIL_BELOW=f"{folder}/work") as run:
        yield Kills(folder, run, merges=merges)


def main(count: int, *, merges: bool, divided: bool) -> None:
    """Kill this many syncs."""
    with tempfile.TemporaryDirectory(prefix="killed-syncs-") as folder, \
            kills(Path(folder), merges=merges, divided=divided) as killing:
        calls = killing.run(0)
        killing.check(is_killed=False)
        print(f"{calls} calls change something", flush=True)
        done = 0
        for place in sorted({1 + number * (calls - 1) // max(1, count - 1) for number in range(count)}):
            killing.begin_anew()
            is_killed = killing.run(place) is None
            killing.check(is_killed=is_killed)
            if is_killed:
                done += 1
                assert killing.run(0) is not None
                killing.check(is_killed=False)
        print(f"{done} syncs were killed, and nothing is wrong")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--merge-on-read"], ["--partition"]):
        sys.exit(__doc__)
    main(int(sys.argv[1]), merges=sys.argv[2:] == ["--merge-on-read"], divided=sys.argv[2:] == ["--partition"])
