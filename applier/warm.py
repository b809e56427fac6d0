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
    """Call every kernel through the functions that a replay calls, on a few rows."""
    _log()
    _keys()
    _text()
    _json()


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


def _log() -> None:
    """A tiny log: its outline, and its rows as columns."""
    import pyarrow as pa

    from applier.binlog.changes import ChangeReader, TableBinding
    from applier.binlog.layout import plan_columns
    from applier.binlog.mapping import map_file
    from applier.binlog.outline import outline_file
    from applier.binlog.row_encoder import RowChanges
    from applier.binlog.writer import BinlogWriter
    from applier.schema.ddl import parse_statement

    sql = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))"
    created = parse_statement(sql, default_database="d", sql_mode="", flavour="mysql", server_charset="utf8mb4")
    table = created[0].definition
    rows = {"id": pa.array([1, 2], pa.int32()), "name": pa.array([b"a", b"b"])}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/binlog.000001"
        with BinlogWriter(path) as log, log.transaction():
            log.rows(RowChanges(table, after=rows))
        outline = outline_file(path)
        mapped = map_file(path)

        def bind(table_map: Any) -> TableBinding:
            plans = plan_columns(table_map)
            return TableBinding(plans, list(plans), list(plans), lambda batch: None)

        reader = ChangeReader(mapped, bind, checksum=True)
        for split in outline.splits:
            reader.walk(split.start, split.end)
        mapped.close()


def _keys() -> None:
    import pyarrow as pa

    from keysearch.keybytes import encode_keys

    encode_keys([pa.array([1, 2]), pa.array(["a", "b"]), pa.array(["c", "d"])])


def _text() -> None:
    import pyarrow as pa

    from applier.binlog.charsets import to_utf8

    for charset in ("latin1", "sjis", "utf16"):
        to_utf8(pa.array(["é".encode("utf-16-be")]), charset)


def _json() -> None:
    import pyarrow as pa

    from jsondiff.binary import to_text

    to_text(pa.array([b"\x04\x00"]))


def main() -> None:
    """Warm up, and say so where it took time."""
    began = time.monotonic()
    if ensure(print):
        print(f"compiled in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
