"""`applier changes`: the row changes of tables, for other programs."""

from typing import Any

from applier.cli.application import verb
from applier.options import ChangeFilesOptions, ChangesOptions
from applier.options.verbs import CHANGES


@verb(CHANGES)
def changes(*, output: str, **arguments: Any) -> None:
    """Write the row changes of tables, in commit order, with their columns' names.

    As JSON on stdout the tables' changes are in one order, that of the log. A directory is complete or it is not there.

        applier changes --binlogs /backup --tables shop.orders | jq .after.status
        applier changes --binlogs /backup --format parquet --output /lake/changes
    """
    from applier.api.job_options import options_of
    from applier.cli.terminal import print_note, progress
    from applier.engine import compiling
    from applier.io.printable import standard_output
    from applier.jobs.change_files.job import STDOUT, write_changes

    log = options_of(ChangesOptions, CHANGES, arguments)
    options = options_of(ChangeFilesOptions, CHANGES, arguments, changes=log, output=output)
    out = standard_output()
    if output == STDOUT and compiling.is_ready("change files"):
        written = write_changes(options, out.buffer)  # no lines between the changes
    else:
        with progress() as watcher:
            written = write_changes(options, out.buffer, watcher)
    for note in written.notes:
        print_note(note)
    if output != STDOUT:
        print(f"{output}: {sum(written.rows.values()):,} changes of {len(written.rows):,} tables")
