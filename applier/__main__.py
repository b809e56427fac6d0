"""The program `applier`, also as `python -m applier`."""

import os
import signal
import sys
from types import FrameType

_FOLLOWERS = ("archive", "sync")
"""Verbs that run until a signal ends them, with 0."""


def run() -> None:
    """Run the command line of this process, and end the process."""
    if next((word for word in sys.argv[1:] if not word.startswith("-")), "") in _FOLLOWERS:
        for number in (signal.SIGTERM, signal.SIGINT):  # until the verb has its own, nothing is there to be ended
            signal.signal(number, _end)
    from applier.cli import console  # it takes a while, in which a signal may come

    console()


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)


if __name__ == "__main__":
    run()
