"""`applier changes`: the row changes of tables, for other programs."""

from typing import Any

from applier.cli.application import verb
from applier.errors import UsageError
from applier.options import ChangeFilesOptions, ChangesOptions
from applier.options.verbs import CHANGES, FOLLOWING


@verb(CHANGES)
def changes(*, output: str, **arguments: Any) -> None:
    """Write the row changes of tables, in commit order, with column names.

    As JSON on stdout, the changes of all tables are in log order. A directory is created atomically.
    --follow continues as the archive grows, and --state records the progress.

        applier changes --binlogs /backup --tables shop.orders | jq .after.status
        applier changes --binlogs /backup --format parquet --output /lake/changes
        applier changes --binlogs /backup --follow --state /var/lib/orders.state
                        --tables shop.orders --output /lake/orders
    """
    from applier.api.calls.job_options import options_of
    from applier.cli.output.written import CHANGES_WRITTEN
    from applier.cli.terminal import print_note, progress
    from applier.engine import compiling
    from applier.io.printable import standard_output
    from applier.jobs.change_files.job import STDOUT, write_changes

    if arguments["follow"]:
        _follow(output, arguments)
        return
    if given := [option.flag for option in FOLLOWING if arguments[option.name] != option.default]:
        raise UsageError(f"{given[0]} is for --follow", hint="add --follow, or leave it out")
    log = options_of(ChangesOptions, CHANGES, arguments)
    options = options_of(ChangeFilesOptions, CHANGES, arguments, changes=log, output=output)
    out = standard_output()
    if output == STDOUT and compiling.is_ready("change files"):
        written = write_changes(options, out.buffer)  # no other lines between the changes
    else:
        with progress() as watcher:
            written = write_changes(options, out.buffer, watcher)
    for note in written.notes:
        print_note(note)
    if output != STDOUT:
        CHANGES_WRITTEN.show(output, written)


def _follow(output: str, arguments: dict[str, Any]) -> None:
    """Write batches, until a signal ends it."""
    import signal

    from applier.api.calls.job_options import options_of
    from applier.api.following import follow_options
    from applier.cli.loudness import Loudness, chosen
    from applier.cli.output.written import BATCH_WRITTEN
    from applier.cli.terminal import print_note
    from applier.io.ending import Ending
    from applier.io.printable import standard_output
    from applier.io.progress import Silent
    from applier.jobs.change_files.job import STDOUT, write_followed
    from applier.jobs.changes.follow.following import follow

    class Notes(Silent):
        def note(self, text: str) -> None:
            print_note(text)

    if arguments["thread_ids"]:
        raise UsageError("--thread is of a log that is complete, and --follow waits for more",
                         hint="leave one of them out")
    if output == STDOUT and arguments["format"] not in ("json", "debezium"):
        raise UsageError(f"batches cannot be one {arguments['format']} file",
                         hint="give --format json or debezium, or a directory in --output")
    followed = follow_options(CHANGES, arguments)
    options = options_of(ChangeFilesOptions, CHANGES, arguments, changes=followed.changes, output=output)
    ending, out = Ending(), standard_output()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ending.ask)
    for batch in follow(followed, ending, Notes()):
        written = write_followed(options, batch, out.buffer)
        for note in written.notes if chosen() >= Loudness.VERBOSE else ():
            print_note(note)
        if output != STDOUT:
            BATCH_WRITTEN.show(batch, written)
