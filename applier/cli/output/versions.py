"""Print the versions of one row: one line per step, with the values before and after, and the transaction that changed
it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from applier.cli.output.grids import NARROW, Grid
from applier.cli.output.results import Result
from applier.cli.output.value_texts import ValueText, value_texts
from applier.cli.terminal import ResultConsole, assembled, words
from applier.jobs.history.job import Origin, RowHistory
from applier.jobs.summary.words import short

_CHARACTERS = 100
"""The most characters of a statement; a file of all versions, with --statements, has it whole."""
Part = str | tuple[str, str]
"""A text, optionally with its style."""


def _print(console: ResultConsole, history: RowHistory, nothing: str) -> None:
    """Print the versions of one row's history, or `nothing` if there are none."""
    versions = pa.Table.from_batches(history.batches(), history.schema)
    if not versions.num_rows:
        console.say(nothing)
        return
    is_narrow = console.width < NARROW
    titles = ("when and where", "", "row") if is_narrow else ("when", "transaction", "at", "thread", "", "row")
    grid = Grid(*titles, names=("transaction",))
    columns = history.columns
    cells = {name: value_texts(column, versions.column(name).combine_chunks()) for name, column in columns.items()}
    said, origins = versions.drop_columns(list(columns)).to_pylist(), history.origins

    def add(version: dict[str, Any], end: str, time: object, kind: str, what: Sequence[Part]) -> None:
        """Add a line for the beginning ("from") or the end ("to") of a version."""
        file, offset = version[f"_{end}_file"], version[f"_{end}_pos"]
        origin = Origin(None, None) if file is None else origins.of(file, offset)
        position = "" if file is None else f"{file}:{offset}"
        thread = "" if origin.thread_id is None else str(origin.thread_id)
        if is_narrow:
            said_first = [_time(time), position, f"thread {thread}" if thread else ""]
            grid.add(words("\n".join(filter(None, said_first)), keep="\n"), kind, assembled(*what))
        else:
            grid.add(_time(time), version[f"_{end}_gtid"] or "", position, thread, kind, assembled(*what))
        if origin.statement is not None:
            grid.add(*[""] * (len(grid.titles) - 1), words(short(origin.statement, _CHARACTERS), "dim"))

    shown: dict[str, ValueText] = {}
    for row, version in enumerate(said):
        values = {name: texts[row] for name, texts in cells.items()}
        before = said[row - 1] if row else None
        follows = before is not None and before["_to_seq"] == version["_from_seq"] and shown != {}
        add(version, "from", version["_valid_from"], version["_change_type"],
            _changed(shown, values) if follows else [", ".join(f"{name}={text}" for name, text in values.items())])
        shown = values
        if version["_ended_by"] is not None and (
                row + 1 == len(said) or said[row + 1]["_from_seq"] != version["_to_seq"]):
            moved = version["_ended_by"] == "update"
            add(version, "to", version["_valid_to"], "update" if moved else version["_ended_by"],
                [("gets another key" if moved else "", "dim")])
            shown = {}
    grid.print(console)


def _time(value: object) -> str:
    return "" if value is None else f"{value:%Y-%m-%d %H:%M:%SZ}"


def _changed(before: dict[str, ValueText], after: dict[str, ValueText]) -> Sequence[Part]:
    parts: list[Part] = []
    for name, value in after.items():
        if before[name] != value:
            old, new = before[name].beside(value)
            parts += [", " if parts else "", f"{name}: ", (old, "red"), " → ", (new, "green")]
    return parts or [("unchanged", "dim")]


ROW_VERSIONS = Result(_print)
