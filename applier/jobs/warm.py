"""Compiles all kernels: `python -m applier.jobs.warm`, for users that need them all, and for wheels."""

import shutil
import sys
import time
from pathlib import Path

from applier.engine import compiling
from applier.io.progress import Silent

LINE_EVERY_SECONDS = 5.0


def ship(folder_of_wheel: str) -> None:
    """Ensure that all kernels are compiled, and copy them to where a wheel has them, as if `folder_of_wheel` were
    it."""
    import keysearch.memory  # noqa: F401  it has Numba keep kernels in the cache
    from keysearch import kernel_cache

    main()
    made_for = Path(kernel_cache.directory()).name
    for module in compiling.modules_for(compiling.EVERYTHING):
        folder = kernel_cache.folder(module)
        shutil.copytree(kernel_cache.kept_in(folder), Path(folder_of_wheel) / made_for / folder,
                        ignore=shutil.ignore_patterns("*.lock"))


class _Lines(Silent):
    """Says on stderr how many kernels are compiled."""

    def __init__(self) -> None:
        self._total, self._said, self._last = 0, 0, time.monotonic()

    def phase(self, name: str, total: int, what: str) -> None:
        self._total = total
        self._say(0)

    def update(self, done: int, rows: int = 0) -> None:
        if done > self._said and (done == self._total or time.monotonic() - self._last > LINE_EVERY_SECONDS):
            self._say(done)

    def _say(self, done: int) -> None:
        self._said, self._last = done, time.monotonic()
        print(f"compiling kernels {done} of {self._total}", file=sys.stderr, flush=True)


def main() -> None:
    """Compile what is not compiled, and print how long it took. Exit with 1 if a kernel does not compile."""
    began = time.monotonic()
    if compiling.ensure(compiling.EVERYTHING, _Lines()):
        print(f"compiled in {time.monotonic() - began:.0f} s", file=sys.stderr)
    if failed := compiling.missing_for(compiling.EVERYTHING):
        sys.exit(f"kernels of these modules do not compile: {', '.join(failed)}")


if __name__ == "__main__":
    main()
