"""`applier archive`: copy a live server's binlogs."""

import signal
import threading
from contextlib import suppress
from types import FrameType
from typing import Any

from applier.cli.application import verb
from applier.options.verbs import ARCHIVE


@verb(ARCHIVE)
def archive(**arguments: Any) -> None:
    """Copy a server's binlogs as a replica receives them, byte for byte, and continue as it writes.

    The output is an archive that `replay` can read at any time. However either side ended, the same command resumes
    where it stopped. SIGTERM and SIGINT end it with 0.

        MYSQL_PWD=… applier archive --source mysql://repl@db1 --output /backup
    """
    from applier.api.archiving import archive as copy
    from applier.cli.output.written import ARCHIVED
    from applier.cli.terminal import progress

    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()
        signal.signal(number, signal.SIG_DFL)  # a second signal ends at once

    before = {}
    with suppress(ValueError):  # signals cannot be set outside of the main thread
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with progress() as watcher:
            done = copy(**arguments, stopped=ended.is_set, progress=watcher)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    ARCHIVED.show(done)
