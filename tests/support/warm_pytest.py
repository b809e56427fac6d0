"""Runs pytest many times, each time in a fork of this process, which has imported the libraries that no mutant changes:
`python -m tests.support.warm_pytest`, for tests/support/mutants.py.

Each line of its input is a JSON list: the file for pytest's output, the most seconds it may take, and its arguments.
For each it prints pytest's exit code, which is negative where pytest was killed.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import sys

import pytest

LIBRARIES = ("coverage", "hypothesis.strategies", "numba", "pandas", "pyarrow.compute", "pyarrow.dataset",
             "pyarrow.parquet")


def _run(said: str, arguments: list[str]) -> None:
    """Become a process of its own that runs pytest, without input."""
    os.setsid()
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
    gc.freeze()
    for line in sys.stdin:
        said, seconds, *arguments = json.loads(line)
        child = os.fork()
        if not child:
            _run(said, arguments)
        ended = os.pidfd_open(child)
        select.select([ended], [], [], seconds)
        os.close(ended)
        with contextlib.suppress(ProcessLookupError):  # also what the tests started and did not end
            os.killpg(child, 9)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
