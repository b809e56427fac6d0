"""Whether this project makes of a log with DDL what the server did, round after round."""

from __future__ import annotations

import json
import re
import shutil
import traceback
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot import manifest
from tests.support.real_server import differences_of, rows_of

_NOT_IN_A_SNAPSHOT = "of a row's key has no value"  # zero dates


@dataclass
class Verdict:
    """`wrong`: lines about what differs; `refused`: why a database's history was not followed to its end."""

    wrong: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


ALL_WAYS = (("walk", 1), ("walk", 4), ("shuffle", 1), ("shuffle", 4))


def judge(folder: Path, work: Path, ways: Iterable[tuple[str, int]] = (("walk", 1), ("shuffle", 4))) -> Verdict:
    """Replay to the end of each round, each time from the snapshot before it, and at last all of the log at once, by
    each of `ways` (a route, and how many tasks at most).

    A history that is refused with a clear error, or that goes wrong, is left out from there on.
    """
    [log] = folder.glob("binlog.*")
    judged = _Judged(log, work)
    for number, text in enumerate((folder / "rounds.jsonl").read_text().splitlines()):
        if not judged.go_on(number, json.loads(text)):
            return judged.verdict
    judged.at_once(ways)
    return judged.verdict


class _Judged:
    """A log on its way: what the server held after the last round, and the snapshot of it."""

    def __init__(self, log: Path, work: Path):
        self._log, self._work, self.verdict = log, work, Verdict()
        self._held: dict[str, dict[str, list]] = {"tables": {}, "past": {}}
        self._left: set[str] = set()
        self._base: Path | None = None
        self._line: dict = {}

    def go_on(self, number: int, line: dict) -> bool:
        """The next round; whether there is anything to continue from."""
        self._line = line
        for kind, held in self._held.items():
            changed = {name: what for name, what in (held | line[kind]).items() if what is not None}
            self._held[kind] = changed
        before, output = self._base, self._work / f"round{number}"
        if not self._replay(f"round {number}", output, ["walk", "shuffle"][number % 2], before):
            return False
        looked_at = {name for kind in self._held for name in line[kind]}
        self._compare(f"round {number}", output, looked_at | _written_anew(output, before))
        if before is not None:
            shutil.rmtree(before)
        self._base = output
        return True

    def at_once(self, ways: Iterable[tuple[str, int]]) -> None:
        """The last round again, from the log's beginning."""
        for route, cores in ways:
            about, output = f"at once ({route}, {cores})", self._work / "at_once"
            if self._replay(about, output, route, None, cores):
                self._compare(about, output, set().union(*self._held.values()))
            shutil.rmtree(output, ignore_errors=True)
        shutil.rmtree(self._base)

    def _replay(self, about: str, output: Path, route: str, base: Path | None, cores: int = 2) -> bool:
        while True:
            try:
                replay_with(ThisProcess(cores), ReplayOptions(
                    (str(self._log),), str(output), route=route, base=str(base) if base else None,
                    stop_position=(self._log.name, self._line["position"]), system_time_zone="+00:00",
                    filter=TableFilter(ignored=parse_table_list([name for database in sorted(self._left)
                                                                 for name in (database, database + "b")]))))
                return True
            except Exception as error:
                database = re.match(r"h\d+", getattr(error, "table", None) or "")
                if database is None or database[0] in self._left:
                    self.verdict.wrong.append(f"{about}: {traceback.format_exc()[-1500:]}")
                    return False
                self._leave(about, database[0], error)

    def _leave(self, about: str, database: str, error: Exception) -> None:
        self._left.add(database)
        refused = isinstance(error, SchemaError) and error.mysql_errno is None
        if refused or _NOT_IN_A_SNAPSHOT in str(error):
            self.verdict.refused[database] = _kind(str(error))
        else:
            self.verdict.wrong.append(f"{about}: {error}; did {self._line['did'][database]}")

    def _compare(self, about: str, output: Path, looked_at: set[str]) -> None:
        wanted = {kind: {name: (columns, rows_of(rows)) for name, (columns, rows) in held.items()
                         if _database(name) not in self._left} for kind, held in self._held.items()}
        found = differences_of(output, wanted["tables"], looked_at, wanted["past"])
        for difference in found:
            self.verdict.wrong.append(f"{about}, {difference}; did {self._line['did'].get(_database(difference))}")
        self._left |= set(map(_database, found))


def _database(name: str) -> str:
    """The history's, of the name of a table in it or beside it."""
    return name.partition(".")[0].removesuffix("b")


def _written_anew(output: Path, before: Path | None) -> set[str]:
    """The tables whose files are not those of the snapshot before."""
    if before is None:
        return {f"{table.database}.{table.name}" for table in manifest.load(str(output)).tables}
    known = {file.stat().st_ino for file in before.rglob("*.parquet")}
    return {f"{table.database}.{table.name}" for table in manifest.load(str(output)).tables
            if any((output / file.path).stat().st_ino not in known for file in (*table.files, *table.history))}


def _kind(message: str) -> str:
    """What was refused, without names and values."""
    message = message.partition(" (at ")[0]
    found = re.search(r"column \S+, (.*?), becomes (.*?): (.*?): ", message)
    if found:
        bases = [re.match(r"\w+", kind)[0] for kind in found.groups()[:2]]
        return f"{bases[0]} becomes {bases[1]}: {found[3][:80]}"
    return re.sub(r"\b[a-z]+\d+\w*", "…", message)[:110]
