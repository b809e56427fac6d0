"""Runs pytest many times, each time in a fork of this process, which has imported the libraries that no mutant changes:
`python -m tests.support.warm_pytest`, for tests/support/mutants.py.

Each line of its input is a JSON list: the file for pytest's output, the most CPU seconds that pytest and each process
that it starts may take, and its arguments. For each it prints pytest's exit code, which is negative where a signal
ended it: SIGXCPU after these seconds, as in an endless loop, SIGKILL after PATIENCE times as many of the clock.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys

import pytest

LIBRARIES = ("coverage", "hypothesis.strategies", "numba", "pandas", "pyarrow.compute", "pyarrow.dataset",
             "pyarrow.parquet")
PATIENCE = 4
"""How long tests may wait for a processor, or for what does not come: the clock does not tell which."""


def exit_code(said: str, seconds: int, arguments: list[str]) -> int:
    """Run pytest in a fork, and kill what its tests started and did not end."""
    child = os.fork()
    if not child:
        _run(said, seconds, arguments)
    ended = os.pidfd_open(child)
    select.select([ended], [], [], PATIENCE * seconds)
    os.close(ended)
    for end in (os.kill, os.killpg):  # it may not be the first of its group yet
        with contextlib.suppress(ProcessLookupError):
            end(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(said: str, seconds: int, arguments: list[str]) -> None:
    """Become a process of its own that runs pytest, without input."""
    os.setsid()
    gc.freeze()  # what there is belongs to the other process, and may need its threads to end
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))
    files = os.open(os.devnull, os.O_RDONLY), os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for new, old in zip((files[0], files[1], files[1]), range(3), strict=True):
        os.dup2(new, old)
    sys.argv[1:] = arguments
    code = 1
    try:
        code = pytest.main(arguments)
    finally:
        sys.stdout.flush()
        os._exit(code)


def main() -> None:
    """Run pytest for each line of the input."""
    for name in LIBRARIES:
        importlib.import_module(name)
    for line in sys.stdin:
        said, seconds, *arguments = json.loads(line)
        print(exit_code(said, seconds, arguments), flush=True)


if __name__ == "__main__":
    main()
