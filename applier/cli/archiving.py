"""`applier archive`: a live server's binlogs, copied."""

import signal
import threading
from contextlib import suppress
from types import FrameType
from typing import Annotated

import typer

from applier.cli.application import app


@app.command()
def archive(
    source: Annotated[str, typer.Option(
        metavar="URL", help="The server, mysql://USER@HOST:PORT or mysql://USER@?socket=/PATH. The password is in "
                            "MYSQL_PWD of the environment or in --defaults-file.")],
    output: Annotated[str, typer.Option(
        metavar="DIR", help="The directory of the archive. If it has binlogs, copying goes on after them.")],
    start_gtid: Annotated[str | None, typer.Option(
        "--start-gtid", "--gtid", metavar="SET", help="Begin with the file that has the first transaction which is not "
                                                      "in this set.")] = None,
    start_file: Annotated[str | None, typer.Option(
        metavar="FILE", help="Begin with this file. By default with the oldest one that the server has.")] = None,
    until_now: Annotated[bool, typer.Option(
        "--until-now/--stop-never", help="End at the end of the log, or wait there for more.")] = False,
    allow_group_access: Annotated[bool, typer.Option(
        "--allow-group-access", help="Let the group read: new files get the mode 0640, not 0600, and a new directory "
                                     "0750, not 0700.")] = False,
    defaults_file: Annotated[str | None, typer.Option(
        metavar="FILE", help="An option file of the servers' clients: password and TLS of --source, and what its "
                             "address leaves out of user, host, port and socket.")] = None,
) -> None:
    """Copy a server's binlogs as a replica gets them, byte for byte, and go on as it writes.

    The output is an archive that `replay` reads at any time. After any end of either side the same command goes on
    where it was. SIGTERM and SIGINT end it with 0.

        MYSQL_PWD=… applier archive --source mysql://repl@db1 --output /backup
    """
    from applier.api.archiving import archive as copy
    from applier.cli.terminal import progress

    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()
        signal.signal(number, signal.SIG_DFL)  # a second one ends at once

    before = {}
    with suppress(ValueError):  # of signals outside of the main thread
        before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with progress() as watcher:
            done = copy(source, output, start_gtid=start_gtid, start_file=start_file, until_now=until_now,
                        allow_group_access=allow_group_access, defaults_file=defaults_file, stopped=ended.is_set,
                        progress=watcher)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    place = f" up to {done.file}:{done.offset}" if done.file else ""
    print(f"{done.output}: {done.files:,} file{'s' * (done.files != 1)} written to, {done.complete:,} complete, "
          f"{done.events:,} events, {done.bytes:,} bytes;{place or ' the source has nothing'}")
