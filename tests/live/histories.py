"""Fresh random histories, run on a server and replayed with `witness="stop"`.

As `python -m tests.live.histories --server mysql://root@127.0.0.1:3306 --seeds 1:1000`. The server is nobody's: the
databases h… are dropped, old binlogs are purged, global settings change. It logs rows; for a server in a chroot, its
root comes after the URL and a "+". It should know named time zones (mysql_tzinfo_to_sql), and have the options that are
to be tried: --lower-case-table-names=1, --binlog-row-image=MINIMAL, --default-time-zone, --character-set-server and
others.

Each history is what one connection does in databases of its own. Some of them share a log, which is replayed at once,
by the one route or by the other. A table that is refused is left out, and the others are compared: what the snapshot
holds with what the server holds. With `--replica`, a second server of the same version decides where they differ, or
where one is refused: it replicates the log. What it holds is right; where it stops, nothing is to be replayed. A
history counts as equal if the snapshot holds the same, and as "a replica has other rows" if the witness found that
these are not the source's. The folder `--keep` gets the log and the statements of each history that is not equal,
`--shrink` of them with as few statements as still show it.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pymysql

from tests.live.judged import (
    CRASHED,
    DIVERGED,
    EQUAL,
    REFUSED,
    STOPPED,
    WITNESS_SAYS,
    WRONG,
    Judge,
    Recorded,
    Verdict,
    keep,
    record_again,
    replica_says,
)
from tests.live.live_server import LiveServer, Recording
from tests.live.random_history import History
from tests.live.shrinking import fewest
from tests.support.real_server import Wanted

STEPS, ATTEMPTS = 16, 5
_RESTART = 20
"""Seconds that a server which a history has crashed gets to be started anew."""
WITHOUT_CHANGES = ("SET", "BEGIN", "COMMIT", "SAVEPOINT", "ROLLBACK", "RELEASE")
_FIRST_THAT_RECOMPUTES = (11,)
"""Of MariaDB; MySQL does."""
_ROW = re.compile(r"(?P<table>.+?): \d+ x (?P<what>missing|unexpected) (?P<row>.*)", re.DOTALL)
GLOBALS = {"binlog_row_metadata": ["FULL", "MINIMAL", "MINIMAL"]}


@dataclass
class Run:
    """Histories of one server, and what was found of them."""

    server: LiveServer
    replica: LiveServer | None
    folder: Path
    shrink: int
    steps: int
    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    examples: dict[str, str] = field(default_factory=dict)

    def batch(self, seeds: range) -> None:
        """Run some histories in one log, and judge them."""
        server = self.server
        for name, values in GLOBALS.items():
            server.run(f"SET GLOBAL {name} = {random.Random(seeds[0]).choice(values)}")
        for seed in seeds:
            server.drop(database_of(seed))
        server.new_log()
        server.forget_logs()
        some = [self._record(seed) for seed in seeds]
        log = server.new_log()
        for one in some:
            one.log = log
        judge = Judge(server, self.replica, route=["walk", "shuffle"][seeds[0] // len(seeds) % 2])
        verdicts = judge.together(some, log, self._again)
        for one, verdict in zip(some, verdicts, strict=True):
            self._note(judge, one, verdict)
            server.drop(one.database)

    def _again(self, one: Recorded) -> Recorded:
        return record_again(self.server, one.seed, one.database, one.statements)

    def _record(self, seed: int) -> Recorded:
        server = self.server
        history = History(seed, server.flavour, database_of(seed), server.version, zones=server.zones,
                          any_case=server.name_case > 0)
        connection, begin, done, left = Recording(server), server.position()[1], list[str](), set[str]()
        done += [statement for statement in history.first() if connection.run(statement)]
        for _ in range(self.steps):
            taken: list[str] = []
            for _ in range(ATTEMPTS):
                taken += [statement for statement in history.step() if connection.run(statement)]
                if changes := any(not statement.startswith(WITHOUT_CHANGES) for statement in taken):
                    break
            done += taken
            if changes:
                columns = server.columns(history.database)
                left |= {table for table, of in columns.items()
                         if table not in left and server.has_zero_dates(history.database, table, of)}
                history.tables = {table: of for table, of in columns.items() if table not in left}
                history.keys, history.parted = server.keys(history.database), server.parted(history.database)
        connection.close()
        place = begin, server.position()[1]
        return Recorded(seed, history.database, done, Path(), place, server.held(history.database))

    def _note(self, judge: Judge, one: Recorded, verdict: Verdict) -> None:
        if verdict.kind == WRONG or (verdict.kind == REFUSED and self.replica is not None):
            one = self._again(one)
            verdict = self._sure(judge, one)
        self.counts[verdict.kind] += 1
        if not verdict:
            return
        reason = f"{verdict.kind}: {verdict.reason}"
        self.reasons[reason].append(one.seed)
        self.examples.setdefault(reason, verdict.lines[0] if verdict.lines else "")
        folder = self.folder / f"{verdict.kind}-{one.seed}"
        if verdict.kind in (WRONG, CRASHED):
            print(f"seed {one.seed}, {verdict.kind}, kept in {folder}:", *verdict.lines[-4:], sep="\n  ", flush=True)
        keep(folder, one, verdict, one.statements)
        if verdict.kind in (WRONG, CRASHED) and self.shrink > 0:
            self.shrink -= 1
            self._shrink(judge, one, verdict, folder / "shrunk")

    def _sure(self, judge: Judge, one: Recorded) -> Verdict:
        """The verdict on a history that has a log of its own, where a replica has the last word."""
        verdict = judge.alone(one)
        if verdict.kind not in (WRONG, REFUSED) or self.replica is None:
            return verdict
        said = replica_says(self.server, self.replica, one)
        if isinstance(said, str):
            return Verdict(STOPPED, re.sub(r"'[^']*'|\d+", "…", said), (said, *verdict.lines))
        if verdict.kind == REFUSED:
            return verdict
        if said == one.held:
            return Verdict(DIVERGED, verdict.reason, verdict.lines) if self._differed(judge, one, verdict) else verdict
        sources, one.held = one.held, said
        found = judge.alone(one, witness="off")
        if found.kind == WRONG and self._recomputes() and _are_of(sources, found.lines):
            return Verdict(DIVERGED, "the replica computed STORED columns again", found.lines)
        stopped_rightly = found.kind == EQUAL and any(WITNESS_SAYS in line for line in verdict.lines)
        return Verdict(DIVERGED, verdict.reason, verdict.lines) if stopped_rightly else found

    def _recomputes(self) -> bool:
        """True if a replica computes STORED columns again, with its own settings, while a snapshot has the source's
        (docs/LIMITS.md)."""
        return self.server.flavour == "mysql" or self.server.version >= _FIRST_THAT_RECOMPUTES

    def _differed(self, judge: Judge, one: Recorded, verdict: Verdict) -> bool:
        """True if the replica had the snapshot's rows, and not the source's, where the witness found these: the rows
        before a change, for what an expression gives is not asked of a replica."""
        text = "\n".join(verdict.lines)
        place = re.search(r"--stop-position \S+:(\d+)", text)
        if self.replica is None or WITNESS_SAYS not in text or place is None or \
                "its expression gives" in text:
            return False
        said = replica_says(self.server, self.replica, one, until=int(place[1]))
        return not isinstance(said, str) and judge.alone(replace(one, held=said), witness="off", stop_position=(
            one.log.name, int(place[1]))).kind == EQUAL

    def _shrink(self, judge: Judge, one: Recorded, verdict: Verdict, folder: Path) -> None:
        def shows(statements: list[str]) -> bool:
            trial = record_again(self.server, one.seed, one.database, statements)
            return self._sure(judge, trial).kind == verdict.kind

        left = fewest(one.statements, shows)
        shrunk = record_again(self.server, one.seed, one.database, left)
        keep(folder, shrunk, self._sure(judge, shrunk), shrunk.statements)
        print(*(f"    {statement};" for statement in shrunk.statements), sep="\n", flush=True)

    def report(self) -> str:
        """What was found, as lines of Markdown."""
        total = sum(self.counts[kind] for kind in (EQUAL, REFUSED, STOPPED, DIVERGED, WRONG, CRASHED))
        lines = [f"{total} histories: " + ", ".join(f"{count} {kind}" for kind, count in self.counts.most_common()), "",
                 "| share | reason | seeds | example |", "| ---: | --- | --- | --- |"]
        for reason, seeds in sorted(self.reasons.items(), key=lambda item: -len(item[1])):
            example = self.examples[reason].replace("|", "\\|")[:300]
            lines.append(f"| {len(seeds) / total:.2%} | {reason.replace('|', chr(92) + '|')} | "
                         f"{', '.join(map(str, seeds[:5]))} | {example} |")
        return "\n".join(lines)


def _are_of(held: Wanted, lines: Sequence[str]) -> bool:
    """True if these differences are of rows, and those of the snapshot are rows that a server held."""
    found = [_ROW.fullmatch(line) for line in lines]
    return all(match is not None and (match["what"] == "missing" or any(
        str(row)[:len(match["row"])] == match["row"] for row in held[match["table"]][1])) for match in found)


def database_of(seed: int) -> str:
    return f"h{seed:06d}"


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live.histories", description=__doc__.partition("\n")[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--replica")
    parser.add_argument("--seeds", default="1:100", help="FIRST:LAST")
    parser.add_argument("--system-time-zone", help="as replay takes it, where the server's is not UTC")
    parser.add_argument("--batch", type=int, default=25, help="histories in a log")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--shrink", type=int, default=0, help="differences to shrink")
    parser.add_argument("--keep", type=Path, default=Path("histories"))
    options = parser.parse_args(words)
    first, last = map(int, options.seeds.split(":"))
    server, replica = LiveServer(options.server), LiveServer(options.replica) if options.replica else None
    server.system_time_zone = options.system_time_zone or server.system_time_zone
    run = Run(server, replica, options.keep, options.shrink, options.steps)
    begin = time.monotonic()
    for start in range(first, last + 1, options.batch):
        seeds = range(start, min(start + options.batch, last + 1))
        try:
            run.batch(seeds)
        except pymysql.OperationalError as error:
            print(f"seeds {seeds[0]} to {seeds[-1]}: {error}; is the server up?", flush=True)
            time.sleep(_RESTART)
    print(run.report())
    print(f"\n{time.monotonic() - begin:.0f} s")
    return bool(run.counts[WRONG] or run.counts[CRASHED])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
