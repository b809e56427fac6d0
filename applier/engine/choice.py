"""Which engine runs tasks, and why.

Threads are as fast as Spark's processes on the same cores: two tasks of 60 MB took 0.12 s of CPU each, whether one by
one or at a time, and waited for the GIL for 1 to 5 % of that. So on one machine Spark saves no time.
Its advantage is that the death of a process costs a task and not the run: worth Spark's start for long work.
"""

import importlib.util
from typing import NamedTuple, Protocol

from applier.io.resolver import is_far

SPARK_STARTS_SECONDS = 6.0
"""The CPU that Spark takes besides the work, from its start to its end: 5.5 to 6 s, measured in local[2] with nothing
to do."""


class Locations(Protocol):
    """The options of a job that decide where it runs: the requested engine, Spark's master and settings, and its inputs
    and outputs."""

    @property
    def engine(self) -> str: ...
    @property
    def master(self) -> str | None: ...
    @property
    def conf(self) -> tuple[tuple[str, str], ...]: ...
    @property
    def locations(self) -> tuple[str, ...]: ...


class Choice(NamedTuple):
    """`engine` is "local", "spark", or "auto" where it depends on how much work is planned; `why` is for people, empty
    where they asked for this engine."""

    engine: str
    why: str = ""

    def __str__(self) -> str:
        return f"engine: {self.engine}, as {self.why}"


def choose(options: Locations) -> Choice:
    """Choose by the options: an engine, a Spark master, and the locations that are read and written."""
    if options.engine != "auto":
        return Choice(options.engine)
    if options.master is not None:
        return Choice("spark", f"--master is {options.master}")
    far = next(filter(is_far, options.locations), None)
    return Choice("auto") if far is None else _spark_if_installed(f"{far} is not on this machine")


def choose_by_work(core_seconds: float) -> Choice:
    """Choose by the CPU that planned work takes."""
    why = (f"the work takes about {max(core_seconds, 0.1):.1f} core seconds, and Spark's start "
           f"{SPARK_STARTS_SECONDS:.0f}")
    return _spark_if_installed(why) if core_seconds > SPARK_STARTS_SECONDS else Choice("local", why)


def spark_is_installed() -> bool:
    """Return whether Spark could be imported. It is an extra, since it is most of the size of an installation."""
    return importlib.util.find_spec("pyspark") is not None


def _spark_if_installed(why: str) -> Choice:
    if spark_is_installed():
        return Choice("spark", why)
    return Choice("local", f"pyspark is not installed, though {why}")
