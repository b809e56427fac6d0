"""What this project makes of a history, compared with what the server holds."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
import traceback
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pymysql.cursors import DictCursor

from applier.engine.executor import ThisProcess
from applier.errors import ApplierError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot import manifest
from tests.live.live_server import LiveServer, Recording
from tests.support.real_server import Wanted, differences_of

EQUAL, REFUSED, WRONG, CRASHED = "equal", "refused", "wrong", "crashed"
STOPPED, DIVERGED = "a replica stops", "a replica has other rows"
WITNESS_SAYS = "-image has "


@dataclass(frozen=True)
class Verdict:
    """What was found; `reason` has no names of one history in it, `lines` have."""

    kind: str
    reason: str = ""
    lines: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.kind != EQUAL


@dataclass
class Recorded:
    """A history as it happened: the statements that the server took, the log and its part of it, and the tables."""

    seed: int
    database: str
    statements: list[str]
    log: Path = field(default_factory=Path)
    place: tuple[int, int] = (0, 0)
    held: Wanted = field(default_factory=dict)


def record_again(server: LiveServer, seed: int, database: str, statements: Sequence[str]) -> Recorded:
    """Run statements again, in a log of their own."""
    server.drop(database)
    server.new_log()
    connection = Recording(server)
    taken = [statement for statement in statements if connection.run(statement)]
    connection.close()
    held = server.held(database)
    return Recorded(seed, database, taken, server.new_log(), (0, 0), held)


class Judge:
    """Replays logs in this process."""

    def __init__(self, server: LiveServer, replica: LiveServer | None = None, **options: object):
        self._servers = [server, *([replica] if replica else [])]
        self._options = {"system_time_zone": server.system_time_zone, "witness": "stop"} | options
        if server.name_case:
            self._options["lower_case_table_names"] = server.name_case

    def alone(self, one: Recorded, **options: object) -> Verdict:
        """A history that has a log of its own."""
        found, refused = self._judged({0: one}, one.log, options)
        return refused[1] if found is None else found[0]

    def together(self, some: list[Recorded], log: Path, again: Callable[[Recorded], Recorded]) -> list[Verdict]:
        """Histories of one log; `again` records one that needs a log of its own."""
        known: dict[int, Verdict] = {}
        while len(known) < len(some):
            rest = {number: one for number, one in enumerate(some) if number not in known}
            ignored = [some[number].database for number in known]
            found, refused = self._judged(rest, log, {}, ignored)
            if found is not None:
                known |= found
            elif refused[0] in rest:
                number, verdict = refused
                known[number] = verdict if verdict.kind == REFUSED else self.alone(again(some[number]))
            else:
                known |= {number: self.alone(again(one)) for number, one in rest.items()}
        return [known[number] for number in range(len(some))]

    def _judged(self, some: dict[int, Recorded], log: Path, options: dict[str, object], ignored: Sequence[str] = (),
                ) -> tuple[dict[int, Verdict] | None, tuple[int, Verdict]]:
        """The verdicts, or None and the history for which the log is refused: -1 if that is unknown. A table that is
        refused is left out, and the others are compared."""
        left_out: dict[str, str] = {}
        refused: dict[int, Verdict] = {}
        while True:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    self._replay(log, f"{folder}/snapshot", [*ignored, *left_out.values()], options)
                except Exception as error:
                    verdict, number = _refused(error), _whose(error, some)
                    table = getattr(error, "table", None) or ""
                    name = ".".join(f"`{part.replace('`', '``')}`" for part in table.split(".", 1))
                    is_child = verdict.kind == WRONG and number >= 0 and _refers(some[number], table, left_out)
                    if (verdict.kind == REFUSED or is_child) and number >= 0 and "." in table and table not in left_out:
                        left_out[table] = name
                        if not is_child:
                            refused.setdefault(number, verdict)
                        continue
                    return None, (number, refused.get(number, verdict) if verdict.kind == REFUSED else verdict)
                skipped = _with_children({*left_out, *(name for server in self._servers for name in server.unreadable)},
                                         f"{folder}/snapshot")
                found = {number: _compared(Path(folder, "snapshot"), one.held, [*some.values()], skipped,
                                           has_all=number not in refused)
                         for number, one in some.items()}
                return {number: verdict if verdict else refused.get(number, verdict)
                        for number, verdict in found.items()}, (-1, Verdict(EQUAL))

    def _replay(self, log: Path, snapshot: str, ignored: Sequence[str], options: dict[str, object]) -> None:
        names = [name for one in ignored for name in ([one] if one.startswith("`") else [one, f"{one}_b"])]
        replay_with(ThisProcess(1), ReplayOptions((str(log),), snapshot, filter=TableFilter(
            ignored=parse_table_list(names)), **(self._options | options)))


def _refers(one: Recorded, table: str, left_out: Container[str]) -> bool:
    """True if a table was made with a foreign key to one that is left out, whose changes it lacks."""
    name = re.escape(table.partition(".")[2].replace("`", "``"))
    made = re.compile(rf"CREATE TABLE `?{name}`? .* REFERENCES `?(.+?)`? \(", re.IGNORECASE)
    found = (made.match(statement) for statement in one.statements)
    return any(f"{one.database}.{match[1].replace('``', '`')}" in left_out for match in found if match)


def _with_children(names: set[str], snapshot: str) -> set[str]:
    """Tables that were left out, and those whose foreign keys refer to them: the changes that these make are gone."""
    tables = manifest.load(snapshot).tables
    while more := {table.full_name for table in tables if any(
            f"{key.database}.{key.table}" in names for key in table.definition.foreign_keys)} - names:
        names |= more
    return names


def _compared(snapshot: Path, held: Wanted, some: list[Recorded], left_out: Container[str], *,
              has_all: bool) -> Verdict:
    """Without `has_all`, a table that the snapshot does not have may be one that was left out, under another name."""
    others = {name.split(".")[0] for one in some for name in one.held if one.held is not held}
    lines = [line for line in differences_of(snapshot, held, looked_at=held)
             if line.split(".")[0] not in others and line.partition(": ")[0] not in left_out]
    lines = [line for line in lines if has_all or not line.endswith(": not in the snapshot")]
    return Verdict(WRONG, "rows differ", tuple(lines)) if lines else Verdict(EQUAL)


def _whose(error: Exception, some: dict[int, Recorded]) -> int:
    """The number of the history that an error is of; -1 if it is unknown."""
    if len(some) == 1:
        return next(iter(some))
    text, position = f"{getattr(error, 'table', '')} {error}", getattr(error, "position", None)
    return next((number for number, one in some.items() if re.search(rf"\b{one.database}(_b)?\b", text, re.IGNORECASE)),
                next((number for number, one in some.items()
                      if position is not None and one.place[0] <= position < one.place[1]), -1))


def _refused(error: BaseException | None) -> Verdict:
    if not isinstance(error, ApplierError):
        lines = [line for text in traceback.format_exception(error) for line in text.splitlines()]
        return Verdict(CRASHED, f"{type(error).__name__} {lines[-3].strip()}", tuple(lines[-9:]))
    text = str(error)
    kind = WRONG if WITNESS_SAYS in text or error.mysql_errno is not None else REFUSED
    return Verdict(kind, _general(text), tuple(text.splitlines()))


def _general(text: str) -> str:
    """A message without statements, names and values."""
    text = re.sub(r"\(at [^)]*\)|: (ALTER|CREATE|INSERT) .*|column .* cannot be computed: ", "", text)
    text = re.sub(r"`[^`]*`|\bh\d+(_b)?\.\S+|\b[a-z]+\d+\w*", "…", text)
    return re.sub(r"'[^']*'|\d+", "…", text).partition(" hint: ")[0][:160]


def replica_says(source: LiveServer, replica: LiveServer, one: Recorded, until: int = 0) -> Wanted | str:
    """What a replica holds once it has replicated a log, or the part of it before a position, or the error at which it
    stopped. The thread that applies begins in the zone that the snapshot is made with."""
    replica.drop(one.database)
    replica.run("SET GLOBAL time_zone = SYSTEM")
    word, what, more = _REPLICATION[source.flavour]
    settings = {"HOST": source.place.hostname, "PORT": source.place.port, "USER": source.place.username or "root",
                "LOG_FILE": one.log.name, "LOG_POS": 4}
    replica.run(f"STOP {word}")
    replica.run(f"RESET {word}")
    replica.run(f"CHANGE {what} TO " + ", ".join(f"{more}_{name} = {value!r}" for name, value in settings.items()) +
                _MORE_SETTINGS[source.flavour])
    replica.run(f"START {word}" + (
        f" UNTIL {more}_LOG_FILE = '{one.log.name}', {more}_LOG_POS = {until}" if until else ""))
    with replica.connect() as connection, connection.cursor(DictCursor) as cursor:
        connection.use_unicode = False  # an error may name values that are not text
        while True:
            cursor.execute(f"SHOW {word} STATUS")
            status = {name.replace("Source", "Master"): value.decode(errors="replace") if isinstance(value, bytes)
                      else value for name, value in (cursor.fetchone() or {}).items()}
            error = status["Last_SQL_Error"] or status["Last_IO_Error"]
            is_there = status[f"{word.title()}_SQL_Running"] == "No" if until else \
                status["Relay_Master_Log_File"] > one.log.name
            if error or is_there:
                break
            time.sleep(0.05)
    replica.run(f"STOP {word}")
    return error or replica.held(one.database)


_REPLICATION = {"mysql": ("REPLICA", "REPLICATION SOURCE", "SOURCE"), "mariadb": ("SLAVE", "MASTER", "MASTER")}
_MORE_SETTINGS = {"mysql": ", SOURCE_AUTO_POSITION = 0, GET_SOURCE_PUBLIC_KEY = 1",
                  "mariadb": ", MASTER_USE_GTID = no, MASTER_SSL_VERIFY_SERVER_CERT = 0"}


def keep(folder: Path, one: Recorded, verdict: Verdict, statements: Sequence[str]) -> None:
    """Write a history to a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "history.sql").write_text("".join(f"{statement};\n" for statement in statements))
    (folder / "verdict.txt").write_text("\n".join([verdict.kind, verdict.reason, *verdict.lines]) + "\n",
                                         errors="surrogateescape")
    if verdict.kind != REFUSED:
        shutil.copyfile(one.log, folder / one.log.name)
