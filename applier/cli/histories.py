"""`applier history`: the versions of one row on the terminal, or of all rows in a file."""

from typing import Any

from applier.cli.application import verb
from applier.errors import UsageError
from applier.options import ChangesOptions, HistoryFilesOptions
from applier.options.verbs import HISTORY


@verb(HISTORY)
def history(*, table: str, key: tuple[str, ...] | None, output: str | None, statements: bool,
            origins: bool, **arguments: Any) -> None:
    """Show the versions of a row, with times and transactions; or write all versions of a table's rows.

        applier history --binlogs /backup --tables shop.orders --key 9499
        applier history --binlogs /backup --tables shop.orders --output /lake/orders
    """
    from applier.api.calls.change_logs import opened
    from applier.api.calls.job_options import options_of
    from applier.cli.output.versions import ROW_VERSIONS
    from applier.cli.output.written import VERSIONS_WRITTEN
    from applier.cli.terminal import print_note, progress
    from applier.jobs.history.job import row_history
    from applier.jobs.on_engine import histories
    from applier.schema.table_filter import TableFilter, one_table

    if (key is None) == (output is None):
        raise UsageError("neither one row nor an output is given",
                         hint="give --key to show one row, or --output to write all of them")
    options, name = options_of(ChangesOptions, HISTORY, arguments, complete=True), one_table(table)
    with progress() as watcher:
        with opened(options, arguments["server"], arguments["defaults_file"], TableFilter((name,)), watcher) as log:
            found = row_history(log, name, arguments["columns"], None if key is None else (key,),
                                origins=origins or key is not None,
                                statements=statements and key is None)
        if output is not None:
            made = histories.write(found, options_of(HistoryFilesOptions, HISTORY, arguments, inputs=found.locations,
                                                     output=output), watcher)
    if output is not None:
        VERSIONS_WRITTEN.show(output, made)
    else:
        ROW_VERSIONS.show(found, f"no version of a row with the key {','.join(key or ())}")
    for note in found.notes:
        print_note(note)
