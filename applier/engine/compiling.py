"""Compiles kernels before tasks need them: several at a time, once per machine, with progress.

If a wheel brought them, there is nothing to do. Otherwise Numba would compile each when it is first called; of several
processes that need the same one, one compiles and the others wait (keysearch.numba_private). This happens for kernels
that few replays need. All others are compiled here first, in one process per core. A file in the directory of a
module's kernels says that all of them are compiled.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO

from applier.errors import UsageError, reason
from applier.io.progress import Progress, Silent
from keysearch import caches

POLL_SECONDS = 0.5
_FOR_FEW = (
    "jsondiff.kernels.apply_kernel", "jsondiff.kernels.canonical_kernel", "jsondiff.kernels.wire_kernel",
    "keysearch.thai_kernel", "applier.apply.foreign_keys.", "applier.io.",
)
"""Modules, or packages of them, that some replays need: half of the time goes to them. JSON diffs, cascades,
encrypted logs."""
_FOR_JOBS = {
    "import": ("applier.jobs.importing.", "applier.snapshot.", "keysearch.keybytes_kernel"),
    "export": ("applier.jobs.exporting.", "applier.snapshot."),
    "diff": ("applier.jobs.diff.", "applier.jobs.exporting.", "applier.jobs.json_lines.", "applier.mysql.",
             "applier.snapshot.", "keysearch.collation_kernel", "keysearch.keybytes_kernel"),
    "show": ("applier.jobs.show.",),
    "changes": ("applier.binlog.", "applier.columns.", "applier.jobs.changes.", "applier.mysql."),
    "changes of rows": ("applier.apply.output.rows_kernel", "applier.binlog.", "applier.columns.", "applier.mysql.",
                        "keysearch.collation_kernel", "keysearch.keybytes_kernel"),
    "change files": ("applier.binlog.", "applier.columns.", "applier.mysql.", "applier.jobs.changes.",
                     "applier.jobs.exporting.", "applier.jobs.json_lines."),
    "history": ("applier.jobs.history.",),
    "outline": ("applier.binlog.outline.",),
    "rewrite": ("applier.jobs.rewrite.",),
    "summary": ("applier.binlog.",),
    "verify": ("applier.snapshot.files.digest_kernel",),
    "verify against a server": ("applier.jobs.exporting.", "applier.jobs.verify.", "applier.mysql.",
                                "applier.snapshot.", "keysearch.keybytes_kernel"),
}
EVERYTHING = "everything"


_ready: set[tuple[str, str]] = set()
"""Jobs and cache directories for which this process has found all kernels."""


def is_ready(job: str) -> bool:
    """Return whether the kernels for a job are compiled: "replay", another one of `_FOR_JOBS`, or EVERYTHING."""
    import keysearch.memory  # noqa: F401  it names the cache directory
    from keysearch import kernel_cache

    found = job, kernel_cache.directory()
    if found not in _ready and not missing_for(job):
        _ready.add(found)
    return found in _ready


def ensure(job: str, progress: Progress | None = None) -> bool:
    """Ensure that the kernels for a job are compiled; True if this call did it. Raises UsageError where they cannot be
    kept."""
    if is_ready(job):
        return False
    with lock_cache() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = missing_for(job)  # another process may have been at it
        failed = compile_all(tuple(missing), progress or Silent()) if missing else set()
        for module, stamp in missing.items():
            if module not in failed:
                caches.make(str(stamp.parent))
                stamp.touch()
    return bool(missing)


def lock_cache() -> IO[str]:
    """Return the file that a compiling process locks, in the directory of kernels. Raises UsageError if none can be
    made.
    """
    from keysearch import kernel_cache

    cache = Path(kernel_cache.directory())
    try:
        caches.make(str(cache))
        return open(cache / "compile.lock", "w")
    except OSError as error:
        raise UsageError(f"cannot keep compiled kernels: {reason(error)}", file=str(cache),
                         hint="set XDG_CACHE_HOME to another directory") from None


def missing_for(job: str) -> dict[str, Path]:
    """The modules with kernels for a job that are not compiled, and the file that is to say that they are."""
    import keysearch.memory  # noqa: F401  it has Numba keep kernels there
    from keysearch import kernel_cache

    missing = {}
    for module in modules_for(job):
        folder = kernel_cache.folder(module)
        stamp = Path(kernel_cache.kept_in(folder)) / "compiled"
        if not kernel_cache.shipped(folder).is_dir() and not stamp.exists():
            missing[module] = stamp
    return missing


def modules_for(job: str) -> tuple[str, ...]:
    """The modules of kernels that a job needs."""
    from applier.kernels import signatures

    if job == EVERYTHING:
        return signatures.modules()
    if job in _FOR_JOBS:
        return tuple(module for module in signatures.modules() if module.startswith(_FOR_JOBS[job]))
    return tuple(module for module in signatures.modules() if not module.startswith((*_FOR_FEW, "applier.jobs.")))


def compile_all(modules: tuple[str, ...], progress: Progress) -> set[str]:
    """Compile these modules' kernels in a process for each core. Return the modules with kernels that do not compile;
    their errors are printed."""
    from applier.kernels.signatures import signatures

    wanted = signatures(modules)
    progress.phase("compile", len(wanted), "kernels")
    program = "import sys; from applier.engine import compiling; compiling.compile_missing(tuple(sys.argv[1:]))"
    processes = [subprocess.Popen([sys.executable, "-c", program, *modules], cwd=Path(__file__).parents[2],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
                 for _ in range(os.cpu_count() or 1)]
    missing = wanted
    try:
        while any(process.poll() is None for process in processes):
            missing = [signature for signature in missing if not signature.is_compiled]
            progress.update(len(wanted) - len(missing))
            time.sleep(POLL_SECONDS)
    finally:
        for process in processes:
            process.terminate()
            process.wait()
    for signature in missing:  # another process may be at one, or have failed
        if not signature.is_compiled:
            _try(signature.kernel.compile, signature.types)
    progress.update(len(wanted))
    return {signature.kernel.__module__ for signature in missing if not signature.is_compiled}


def compile_missing(modules: tuple[str, ...]) -> None:
    """Compile those of these modules' kernels that are not compiled, and that no other process compiles."""
    from applier.kernels.signatures import signatures
    from keysearch.numba_private import compile_unless_busy

    for signature in signatures(modules):
        _try(compile_unless_busy, signature.kernel, signature.types)


def _try(compile: Callable[..., object], *arguments: object) -> None:
    """Compile a kernel. If it no longer accepts these types, it is compiled when it is called with others."""
    try:
        compile(*arguments)
    except Exception:
        traceback.print_exc(file=sys.stderr)
