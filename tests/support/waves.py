"""Requests that are answered in waves: all that wait at a time, once no thread of this process runs. So every request
that can be made without an answer was made, and the number of waves is how many answers were waited for one after the
other, however busy the machine is."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_WATCHER = """
import os, sys, time

def threads():
    # of each thread its state, and how often it ran
    found = {}
    for name in os.listdir(sys.argv[1]):
        try:
            with open(f"{sys.argv[1]}/{name}/status") as file:
                said = dict(line.split(":", 1) for line in file)
        except (FileNotFoundError, ProcessLookupError):
            continue
        found[name] = said["State"].split()[0], said["voluntary_ctxt_switches"], said["nonvoluntary_ctxt_switches"]
    return found

for _ in sys.stdin:
    before, quiet = None, 0
    while quiet < 3:
        time.sleep(0.002)
        now = threads()
        quiet = quiet + 1 if now == before and all(state == "S" for state, *_ in now.values()) else 0
        before = now
    print(flush=True)
"""
"""A process that answers each line when all threads of another one have slept for a while. It is none of them, since
Python's threads wait for each other."""


class Waves:
    """Requests to a server in this process, whose clients are in this process, too."""

    def __init__(self, watcher: "subprocess.Popen[str]"):
        self._watcher, self._changed = watcher, threading.Condition()
        self._begun = self._waiting = self._number = 0
        self._is_over = False

    def begin(self) -> None:
        """Begin a request."""
        with self._changed:
            self._begun += 1

    def wait(self) -> int:
        """Wait until the request may be answered; returns the number of its wave, from 1 on."""
        with self._changed:
            number = self._number + 1
            self._waiting += 1
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._number >= number)
            return number

    def answer(self) -> None:
        """Let requests go, wave by wave, until it is over."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
            assert self._watcher.stdin and self._watcher.stdout
            self._watcher.stdin.write("\n")
            self._watcher.stdin.flush()
            self._watcher.stdout.readline()
            with self._changed:
                if self._waiting == self._begun:
                    self._begun = self._waiting = 0
                    self._number += 1
                    self._changed.notify_all()

    def end(self) -> None:
        """End, when all requests have been answered."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


@contextmanager
def waves() -> Iterator[Waves]:
    """Waves of this process."""
    with subprocess.Popen([sys.executable, "-S", "-c", _WATCHER, f"/proc/{os.getpid()}/task"], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as watcher:
        found = Waves(watcher)
        thread = threading.Thread(target=found.answer, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            found.end()
            thread.join()
            assert watcher.stdin
            watcher.stdin.close()
