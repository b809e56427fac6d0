"""`applier undo`: write a script that reverts transactions on a server."""

from typing import Any

from applier.cli.application import verb
from applier.options.verbs import UNDO


@verb(UNDO)
def undo(*, json: bool, **arguments: Any) -> None:
    """Write a script that reverts transactions: their rows get the values that they had before.

    The archive is read to its end, to find rows that others have changed since. Nothing is done to a server:
    the file is for you to read and run.

        applier undo --binlogs /backup --output undo.sql
                     --gtids 2fd3e025-e51c-11f1-9d4f-02fc00000001:12
    """
    from applier.api.undoing import undo as write
    from applier.cli.output.undone import UNDONE
    from applier.cli.terminal import print_note, progress

    with progress() as watcher:
        found = write(**arguments, progress=watcher)
    UNDONE.print(json, found, arguments["on_conflict"])
    for note in found.notes:
        print_note(note)
