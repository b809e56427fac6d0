"""Compiles the kernels once for a machine, before several processes would do it side by side: `python -m applier.warm`.

Numba compiles a kernel when it is first called and keeps it in a cache on disk. Workers that fill that cache at the
same time each do all the work, and may read each other's unfinished files. So one process calls every kernel, under a
file lock, and leaves a stamp; whoever sees the stamp has nothing to do. The cache's name holds a digest of the sources
(keysearch.memory), and the stamp's the processor, as compiled code belongs to both.
"""

import fcntl
import importlib
import pkgutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from applier.options import ReplayOptions

ROWS = 5000
PACKAGES = ("keysearch", "jsondiff", "applier.binlog", "applier.apply")


def ensure(note: Callable[[str], None] = lambda text: None) -> bool:
    """Have all kernels in the cache; True if this call compiled them. `note` gets a line before, as it takes long."""
    cache = _cache()
    stamp = cache / _stamp_name()
    if stamp.exists():
        return False
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "warm.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if stamp.exists():
            return False
        note("compiling kernels (once for this machine; about a minute)")
        exercise()
        stamp.touch()
    return True


def exercise() -> None:
    """Call every kernel as a replay calls it: a small log is replayed in this process, to a point and then from there;
    kinds of values that it does not hold are converted by themselves."""
    from applier.apply.executor import ThisProcess
    from applier.replay import replay_with

    with tempfile.TemporaryDirectory() as folder:
        middle = _write_log(f"{folder}/binlog.000001")
        log, first = f"{folder}/binlog.000001", f"{folder}/first"
        replay_with(ThisProcess(), ReplayOptions((log,), first, stop_position=("binlog.000001", middle)))
        for route in ("walk", "shuffle"):
            replay_with(ThisProcess(), ReplayOptions((log,), f"{folder}/{route}", base=first, route=route))
    _convert_other_kinds()


def kernels() -> list[Any]:
    """All functions that Numba compiles on a call from Python and caches, in the order of their modules."""
    from numba.core.caching import NullCache
    from numba.core.registry import CPUDispatcher

    found = []
    for name in PACKAGES:
        package = importlib.import_module(name)
        for part in pkgutil.iter_modules(package.__path__, f"{name}."):
            module = importlib.import_module(part.name)
            found += [thing for thing in vars(module).values() if isinstance(thing, CPUDispatcher)
                      and thing.__module__ == part.name and not isinstance(thing._cache, NullCache)]
    return found


def _cache() -> Path:
    import numba

    import keysearch.memory  # noqa: F401  it names the cache

    return Path(numba.config.CACHE_DIR)


def _stamp_name() -> str:
    import llvmlite.binding as llvm

    return f"warm-{llvm.get_host_cpu_name()}"


def _write_log(path: str) -> int:
    """Full and partial images of tables with an integer key and with a key of text, enough for their indexes to grow;
    returns a position in their midst."""
    import pyarrow as pa

    from applier.binlog.row_encoder import RowChanges
    from applier.binlog.writer import BinlogWriter
    from applier.schema.ddl import parse_statement

    rest = "v DECIMAL(50,2), s SET('a','b'), t VARCHAR(9) CHARACTER SET latin1)"
    statements = (f"CREATE TABLE d.i (k INT PRIMARY KEY, {rest}", f"CREATE TABLE d.b (k VARCHAR(9) PRIMARY KEY, {rest}")
    with BinlogWriter(path) as log:
        log.query("CREATE DATABASE d")
        for sql in statements:
            log.query(sql)
        for part in range(2):
            middle = log.position
            for sql in statements:
                created = parse_statement(sql, default_database="d", sql_mode="", flavour="mysql",
                                          server_charset="utf8mb4")
                numbers = range(part * ROWS, (part + 1) * ROWS)
                keys = pa.array(numbers, pa.int32()) if "INT" in sql else pa.array([b"%d" % n for n in numbers])
                row = {"k": keys, "s": pa.array([3] * ROWS, pa.uint64()), "t": pa.array([b"\xe9"] * ROWS)}
                with log.transaction():
                    log.rows(RowChanges(created[0].definition, after=row))
                    log.rows(RowChanges(created[0].definition, before={"k": keys}, after={"t": row["t"]}))
                for turn in range(3):  # keys that come and go: an index forgets the dead
                    passing = [-n for n in range(1 + turn * ROWS, 1 + (turn + 1) * ROWS)]
                    passing = pa.array(passing, pa.int32()) if "INT" in sql else pa.array([b"%d" % n for n in passing])
                    with log.transaction():
                        log.rows(RowChanges(created[0].definition, after=row | {"k": passing}))
                        log.rows(RowChanges(created[0].definition, before={"k": passing}))
    return middle


def _convert_other_kinds() -> None:
    import pyarrow as pa

    from applier.apply.payload import find_ranges
    from applier.binlog.charsets import to_utf8
    from applier.binlog.mariadb_types import network_text
    from jsondiff.binary import to_text
    from keysearch.keybytes import encode_keys

    for charset in ("latin1", "sjis", "utf16"):
        to_utf8(pa.array(["é".encode("utf-16-be")]), charset)
    for kind in ("inet4", "inet6", "uuid"):
        network_text(pa.array([bytes(4)]), kind)
    to_text(pa.array([b"\x04\x00"]))
    keys = encode_keys([pa.array([1, 2]), pa.array(["a", "b"]), pa.array(["c", "d"])])
    find_ranges(keys, keys)


def main() -> None:
    """Warm up, and say so where it took time."""
    began = time.monotonic()
    if ensure(print):
        print(f"compiled in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
