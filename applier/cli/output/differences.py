"""Print the differences between snapshots: counts of all tables first, then some rows of each."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq
from rich.text import Text

from applier.cli.output.grids import Grid, result_console
from applier.cli.output.results import Result
from applier.cli.output.value_texts import ValueText, value_texts
from applier.cli.terminal import ResultConsole, assembled, print_note
from applier.io.disk.new_files import new_output
from applier.jobs.diff.columns import AFTER, BEFORE, SharedColumn, SharedColumns
from applier.jobs.diff.result import Compared, TableDiff
from applier.jobs.guarded_sql.repair import Repair
from applier.mysql.names import folded
from applier.snapshot.files.location import table_folder


def _print(console: ResultConsole, diff: Compared, rows: int) -> None:
    """Print counts of each table, and at most `rows` rows of each that differs."""
    counts = Grid("table", "rows before", "rows after", "removed", "added", "changed", "definition")
    for table in diff.tables.values():
        counts.add(table.full_name, table.rows_before, table.rows_after, table.removed, table.added, table.changed,
                "; ".join(table.notes))
    counts.print(console)
    console.say("from ", (str(diff.before), "bold"), " to ", (str(diff.after), "bold"),
                ": no row differs" if diff.same else "")
    for table in diff.tables.values():
        if not table.differing or not rows:
            continue
        by = f" by {', '.join(table.key)}" if table.key else ""
        console.print()
        console.say((table.full_name, "bold"), by)
        shown = 0
        for line in _lines(table, rows):
            console.print(line, soft_wrap=True)
            shown += 1
        if shown < table.differing:
            console.say((f"… and {table.differing - shown:,} more: --rows shows more of them, --format json all",
                        "dim"))


DIFFERENCES = Result(_print)


def write_parquet(diff: Compared, output: str) -> None:
    """Write the rows of each table that differs as DIR/DB/TABLE.parquet. Raises UsageError if the directory exists."""
    with new_output(output) as partial:
        os.makedirs(partial)
        for table in diff.tables.values():
            if table.differing:
                path = os.path.join(partial, f"{table_folder(table.database, table.name)}.parquet")
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with pq.ParquetWriter(path, table.schema, compression="zstd", write_page_checksum=True) as writer:
                    for batch in table:
                        writer.write_batch(batch)


_HOW_TO_RUN = {
    "sql": "Read it, then run it: mysql < FILE. Nothing happens if a row is not as it was before, or if triggers would "
           "act.",
    "binlog": "Run it: mysqlbinlog --skip-gtids FILE | mysql, or mariadb-binlog FILE | mariadb. Triggers do not act. "
              "Rows are found by their key: what changed in them after they were compared is not noticed."}


def print_repair(repair: Repair, output: str | None, format: str = "sql") -> None:
    """Print what the statements in a file do and what they do not do; if they are on stdout, only the latter, on
    stderr."""
    said = [f"not repaired: {text}" for text in repair.not_repaired] + [
        f"the statements destroy: {text}" for text in repair.destroyed] + [
        f"the statements alter {text}" for text in repair.altered]
    if output is None:
        for text in said:
            print_note(text)
        return
    console = result_console()
    grid = Grid("table", "delete", "insert", "update")
    for name, counts in repair.rows.items():
        grid.add(name, *counts)
    tables = "1 table" if len(repair.rows) == 1 else f"{len(repair.rows):,} tables"
    console.say((output, "bold"), f" changes rows of {tables}")
    if repair.rows:
        grid.print(console)
    for text in said:
        console.say(text, soft_wrap=True)
    console.say(_HOW_TO_RUN[format], soft_wrap=not console.is_terminal)


def _lines(table: TableDiff, most: int) -> Iterator[Text]:
    """Yield the first rows, one line each."""
    columns = SharedColumns.of(*(side.shown if side else None for side in table.definitions)).columns
    left = most
    for batch in table.differing_rows():
        few = batch.slice(0, 2 * left)
        before, after = ([_shown(column, side, few.column(column.name)) for column in columns]
                         for side in (BEFORE, AFTER))
        kinds, changed = (few.column(name).to_pylist() for name in ("_change_type", "_changed"))
        for row, kind in enumerate(kinds):
            if kind == "update_postimage" or not left:
                continue
            left -= 1
            if kind == "update_preimage":
                yield _update(table, columns, before, after, row, changed[row])
            else:
                sign, style, values = ("- ", "red", before) if kind == "delete" else ("+ ", "green", after)
                side = BEFORE if kind == "delete" else AFTER
                named = [f"{column.name}={cells[row]}" for column, cells in zip(columns, values, strict=True)
                         if column.sides[side] is not None]
                yield assembled((sign, style), (", ".join(named), style))
        if not left:
            return


def _update(table: TableDiff, columns: tuple[SharedColumn, ...], before: list[list[ValueText]],
            after: list[list[ValueText]], row: int, changed: list[str]) -> Text:
    numbers = {column.name: number for number, column in enumerate(columns)}
    key = ", ".join(f"{name}={before[numbers[_known(name, numbers)]][row]}" for name in table.key)
    parts: list[str | tuple[str, str]] = [("~ ", "yellow"), f"{key}  "]
    for count, name in enumerate(changed):
        number = numbers[name]
        old, new = before[number][row].beside(after[number][row + 1])
        parts += [", " if count else "", f"{name}: ", (old, "red"), " → ", (new, "green")]
    return assembled(*parts)


def _known(name: str, names: dict[str, int]) -> str:
    return next(known for known in names if folded(known) == folded(name))


def _shown(column: SharedColumn, side: int, values: pa.Array) -> list[ValueText]:
    definition = column.sides[side]
    return [ValueText(None)] * len(values) if definition is None else value_texts(definition, values)
