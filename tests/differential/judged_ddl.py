"""Whether this project makes of a log with DDL what the server did, round after round."""

from __future__ import annotations

import json
import re
import shutil
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from real_server import differences_of, rows_of

from applier.apply.executor import ThisProcess
from applier.errors import SchemaError
from applier.options import ReplayOptions
from applier.replay import replay_with
from applier.table_filter import TableFilter, parse_table_list

_NOT_IN_A_SNAPSHOT = ("of a row's key has no value",  # zero dates
                      "the log's rows have")  # MariaDB's hidden column for a unique key over long text


@dataclass
class Verdict:
    """`wrong`: lines about what differs; `refused`: why a database's history was not followed to its end."""

    wrong: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def judge(folder: Path, work: Path, *, goes_on: bool = False, rounds: set[int] | None = None) -> Verdict:
    """Replay to the end of each round, or of these: all of the log, or, if it `goes_on`, from the snapshot before it.

    A history that is refused with a clear error, or that goes wrong, is left out from there on.
    """
    [log] = map(str, folder.glob("binlog.*"))
    held: dict[str, list] = {}
    verdict, left, base = Verdict(), set(), None
    lines = [json.loads(line) for line in (folder / "rounds.jsonl").read_text().splitlines()]
    for number, line in enumerate(lines):
        held = {name: what for name, what in (held | line["tables"]).items() if what is not None}
        if rounds is not None and number not in rounds:
            continue
        output, route = work / f"round{number}", ["walk", "shuffle"][number % 2]
        while True:
            about = f"round {number}"
            try:
                replay_with(ThisProcess(2), ReplayOptions(
                    (log,), str(output), route=route, base=str(base) if base else None,
                    stop_position=(Path(log).name, line["position"]),
                    filter=TableFilter(ignored=parse_table_list(sorted(left)))))
                break
            except Exception as error:
                database = re.match(r"h\d+", getattr(error, "table", None) or "")
                if database is None or database[0] in left:
                    verdict.wrong.append(f"{about}: {traceback.format_exc()[-900:]}")
                    return verdict
                left.add(database[0])
                if isinstance(error, SchemaError) or any(why in str(error) for why in _NOT_IN_A_SNAPSHOT):
                    verdict.refused[database[0]] = _kind(str(error))
                else:
                    verdict.wrong.append(f"{about}: {error}; did {line['did'][database[0]]}")
        wanted = {name: (columns, rows_of(rows)) for name, (columns, rows) in held.items()
                  if name.partition(".")[0] not in left}
        for difference in differences_of(output, wanted):
            database = difference.partition(".")[0]
            if database not in left or any(database + ":" in wrong for wrong in verdict.wrong[-3:]):
                verdict.wrong.append(f"{about}, {database}: {difference}; did {line['did'][database]}")
            left.add(database)
        if base is not None:
            shutil.rmtree(base)
        base = output if goes_on and not left & {name.partition(".")[0] for name in held} else None
        if base is None:
            shutil.rmtree(output)
    return verdict


def _kind(message: str) -> str:
    """What was refused, without names and values."""
    message = message.partition(" (at ")[0]
    found = re.search(r"column \S+, (.*?), becomes (.*?): (.*?): ", message)
    if found:
        bases = [re.match(r"\w+", kind)[0] for kind in found.groups()[:2]]
        return f"{bases[0]} becomes {bases[1]}: {found[3][:80]}"
    return re.sub(r"\b[a-z]+\d+\w*", "…", message)[:110]
