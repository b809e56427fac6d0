"""Many runs of one program that kills itself at a step: each is forked from a process that has loaded the needed
modules, before it has a thread, since loading takes longer than a run."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator

from tests.support.folders import ROOT

PARENT = """
import os, sys
from applier.engine.spark import forking
forking.preload()
PROGRAM
for line in sys.stdin:
    if (pid := os.fork()) == 0:
        print(run(int(line)), end=" ", flush=True)
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


@contextlib.contextmanager
def forked_runs(program: str, *arguments: str, **environment: str) -> Iterator[Callable[[int], int | None]]:
    """Yield a function that runs the program's `run(step)`, with these arguments in sys.argv and more in os.environ: it
    returns the result, or None if the run was killed."""
    command = [sys.executable, "-c", PARENT.replace("PROGRAM", program), *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=os.environ | environment) as parent:
        def run(place: int) -> int | None:
            print(place, file=parent.stdin, flush=True)
            *returned, code = map(int, parent.stdout.readline().split())
            assert code in (0, -9)
            return returned[0] if returned else None

        yield run
