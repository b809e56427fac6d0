"""Requests to end a long job, from a signal handler or another thread, and waiting for it."""

from __future__ import annotations

from queue import Empty, SimpleQueue


class Ending:
    """Asked for once, it stays. A signal's handler may ask, whatever the job does just then: a SimpleQueue, unlike
    an Event, may be entered again by the thread that is in it."""

    def __init__(self) -> None:
        self._asks: SimpleQueue[None] = SimpleQueue()
        self._is_asked = False

    def ask(self, *_: object) -> None:
        """Ask the job to end after the round that it is at; the arguments are those of a signal's handler."""
        self._asks.put(None)

    def wait(self, seconds: float) -> bool:
        """Wait for it, at most so long; returns whether it has been asked for."""
        if not self._is_asked:
            try:
                self._asks.get(timeout=max(0.0, seconds))
            except Empty:
                return False
            self._is_asked = True
        return True
