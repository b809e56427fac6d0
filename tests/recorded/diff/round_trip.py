"""What `diff --format sql` writes, judged by real servers.

As `python -m tests.recorded.diff.round_trip URL…`: of each recorded case of the server's kind, the snapshot of its
first mark (or of the middle of its log) is exported and loaded; then the statements from there to each later mark, and
from the end back to the first one, are given to the server. What it then holds is read from the binlog that it wrote of
it all, and compared with the snapshot of that mark. URLs are as in tests.recorded.exporting.round_trip.

Two things differ, and are in docs/LIMITS.md: scalars of JSON whose text is a number of another type (json-partial-*),
and the times of a system-versioned table's rows.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import applier
from tests.recorded.diff.test_recorded_diffs import FOLDED
from tests.recorded.differential.real_replicas import Server
from tests.recorded.exporting.round_trip import load
from tests.support.real_server import Case, Mark, replayed

OTHERS = ("zero-dates-mysql", "zero-dates-mariadb", "mysql-types-text", "mysql-types-number-time", "mysql-types-json",
          "mariadb-types", "mariadb-types-text", "row-image-full", "mariadb-row-image-full", "keys-made-mysql",
          "keys-made-mariadb", "generated-columns-mysql", "generated-columns-mariadb", "wide-tables-mysql")
NOT_LOADED = ("mariadb-sequences",)
"""An export has no sequences, so a server refuses defaults that use them."""


def judge(server: Server, case: Case, folder: Path) -> Iterator[str]:
    """Lines about what the server does not hold as it should."""
    snapshots, log = [], case.binlogs[0]
    middle = Mark("middle", log.name, log.stat().st_size // 2, "")
    for number, mark in enumerate([*(case.marks or [middle]), None]):
        replayed(case, folder / str(number), mark=mark)
        snapshots.append(applier.Snapshot(folder / str(number)))
    databases = {table.database for snapshot in snapshots for table in snapshot.tables.values()}
    for database in databases:
        server.run(f"DROP DATABASE IF EXISTS `{database}`")
    applier.export(snapshots[0], folder / "export")
    first = Path(load(server, folder / "export", databases))
    for number, (before, after) in enumerate(zip(snapshots, [*snapshots[1:], snapshots[0]], strict=True)):
        done = server.program("mysql", *server.address, "--default-character-set=utf8mb4", "--binary-mode",
                              text=b"".join(applier.diff(before, after).sql(definitions=True)))
        if done.returncode:
            yield f"{number}: {done.stderr.decode()}"
            return
        server.run("FLUSH BINARY LOGS")
        logs = [first.with_name(name) for [name, *_] in server.run("SHOW BINARY LOGS") if name >= first.name]
        found = applier.diff(after, applier.replay(logs, folder / f"held{number}").snapshot)
        yield from (f"{number}: {table}" for table in found.tables.values() if table.differing)


def main(urls: list[str]) -> int:
    """See above; 1 where something is wrong."""
    failed = 0
    for url in urls:
        server = Server(url)
        for case in map(Case, sorted({*FOLDED, *OTHERS}.difference(NOT_LOADED))):
            if case.server == server.flavour:
                with tempfile.TemporaryDirectory() as place:
                    wrong = list(judge(server, case, Path(place)))
                print(case.name, "equal" if not wrong else "\n  ".join(["differs", *wrong]), flush=True)
                failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
