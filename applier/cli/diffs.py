"""`applier diff`: the differences between two snapshots, or between a snapshot and its replay with binlogs."""

from __future__ import annotations

from typing import Any

import typer

from applier.cli.application import verb
from applier.options.verbs import DIFF


@verb(DIFF)
def diff(*, format: str, definitions: bool, output: str | None, rows: int, **arguments: Any) -> None:
    """Show the differences between two snapshots: rows that were removed, added and changed, by key.

    Files that both share are not read. Rows are matched by their table's key as the server compares it, values are
    compared byte for byte; a table without a key is a multiset of rows. Definitions are compared by meaning.

    With --format sql the exit code is 1 if a table or its definition stays different.

        applier diff /lake/yesterday /lake/today
        applier diff /lake/base --binlogs /backup --format sql
                     --stop-datetime '2026-03-14 10:30:00'
    """
    from applier.api.diffing import diff as find
    from applier.cli.output.differences import DIFFERENCES, print_repair, write_parquet
    from applier.cli.terminal import progress
    from applier.errors import UsageError
    from applier.io.disk.new_files import new_output
    from applier.io.printable import print_lines

    if (format == "parquet" and output is None) or (format == "table" and output is not None):
        raise UsageError(f"--format {format} goes to {'a directory' if output is None else 'the terminal'}",
                         hint="give --output DIR" if output is None else "leave --output out, or choose another format")
    if definitions and format != "sql":
        raise UsageError("--definitions is for --format sql", hint="give both, or leave --definitions out")
    with progress() as watcher:
        found = find(**arguments, progress=watcher)
        if format == "parquet":
            write_parquet(found, str(output))
    if format in ("table", "parquet"):
        DIFFERENCES.show(found, rows if format == "table" else 0)
        return
    repair = found.repair(definitions=definitions) if format == "sql" else None
    parts = found.json_lines() if repair is None else repair.statements()
    if output is None:
        print_lines(parts)
    else:
        with new_output(output) as partial, open(partial, "xb") as file:
            file.writelines(parts)
    if repair is not None:
        print_repair(repair, output)
        if repair.not_repaired:
            raise typer.Exit(1)
