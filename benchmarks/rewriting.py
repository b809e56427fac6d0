"""Writing an archive again, smaller, and proving it."""

import time
from tempfile import TemporaryDirectory

from applier.io.progress import Silent
from applier.jobs.rewrite.job import rewrite
from applier.options import RewriteOptions
from benchmarks.measure import in_child
from benchmarks.report import Table, number
from benchmarks.sections import Bench

_WAYS = ((None, True), ("minimal", False), ("minimal", True))
_WORK = (*((name, *way) for name in ("oltp", "bulk", "types") for way in _WAYS), ("minimal", "full", False))


def rewriting(bench: Bench) -> list[Table]:
    """Smaller images, compression, and both; and whole images again."""
    table = Table(
        "Writing an archive again",
        "How large the new files are, and MB/s of one core's CPU time: writing them, and all of it, with the proof by "
        "replaying both archives.",
        ["log", "MB", "--image", "--compress", "new ÷ old", "writing", "with the proof"],
    )
    for name, image, compress in _WORK:
        log = bench.workload(name)
        size, writing, whole = in_child(_rewritten, log.files, image, compress)
        table.rows.append([name, number(log.size / 1e6), image or "", "yes" if compress else "",
                           f"{size / log.size:.2f}", number(log.size / writing / 1e6),
                           number(log.size / whole / 1e6)])
    return [table]


class _Phases(Silent):
    """How much CPU time each phase took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._name, self._begun = "", time.process_time()

    def phase(self, name: str, total: int, what: str) -> None:
        now = time.process_time()
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + now - self._begun
        self._name, self._begun = name, now


def _rewritten(files: tuple[str, ...], image: str | None, compress: bool) -> tuple[int, float, float]:
    """The size of the new files, and CPU seconds: of writing them, and in all."""
    with TemporaryDirectory() as folder:
        best = []
        for run in range(3):
            phases, begun = _Phases(), time.process_time()
            done = rewrite(RewriteOptions(files, f"{folder}/{run}", image, compress), phases)
            best.append((phases.seconds["rewrite"], time.process_time() - begun))
        return done.bytes_after, min(writing for writing, _ in best), min(whole for _, whole in best)
