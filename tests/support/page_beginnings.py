"""The state that a page's reader has before its first command: `beginning(page)`."""

import gzip
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from pyarrow import fs

import applier
import applier.binlog
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.binlog_server import PASSWORD, BinlogServer
from tests.support.folders import ROOT
from tests.support.object_store import object_store

RECORDED = ROOT / "tests" / "recorded" / "cookbook"


def beginning(page: Path) -> AbstractContextManager[None]:
    """Make it, in the working directory: the setup of a page of the cookbook, or the demo's archive as `backup`.
    Servers and environment variables exist until the context ends."""
    begin = _BEGINNINGS.get(page.stem, _demo if "backup" in page.read_text() else nullcontext)
    return begin() or nullcontext()


def _demo() -> None:
    shutil.copytree(ARCHIVE, "backup", ignore=shutil.ignore_patterns("*.json"))


def _next_morning() -> None:
    """The demo's archive continues: somebody deletes all customers."""
    _demo()
    shutil.copy(RECORDED / "binlog.000004", "backup")


def _diverged_replica() -> None:
    """The demo's archive, of the source; a dump of its replica, and what the replica answers."""
    _demo()
    shutil.copy(RECORDED / "sums.tsv", ".")
    for name in ("rows.tsv", "replica.sql"):
        Path(name).write_bytes(gzip.decompress((RECORDED / f"{name}.gz").read_bytes()))


def _partitioned_orders() -> None:
    """A table, and statements that empty and drop partitions."""
    Path("backup").mkdir()
    with applier.binlog.Writer("backup/binlog.000001", time=datetime(2026, 3, 14, 12, tzinfo=UTC)) as log:
        log.query("CREATE DATABASE shop")
        log.query("CREATE TABLE orders (id INT NOT NULL, year INT NOT NULL, PRIMARY KEY (id, year)) PARTITION BY RANGE "
                  "(year) (PARTITION p24 VALUES LESS THAN (2025), PARTITION p25 VALUES LESS THAN (2026), PARTITION p26 "
                  "VALUES LESS THAN MAXVALUE)", "shop")
        with log.transaction():
            log.insert("shop.orders", {"id": [1, 2, 3, 4], "year": [2024, 2025, 2025, 2026]})
        log.query("ALTER TABLE orders TRUNCATE PARTITION p25", "shop")
        with log.transaction():
            log.insert("shop.orders", {"id": [5], "year": [2025]})
        log.query("ALTER TABLE orders DROP PARTITION p24", "shop")


def _encrypted_archives() -> None:
    """Encrypted logs of both kinds of servers, whose keys were rotated, and their keys of then and now."""
    Path("keys").mkdir()
    for archive, name, keys in (("backup", "mysql", "keyring"), ("mariadb", "mariadb-aes_ctr", "keys")):
        recorded = ROOT / "tests" / "recorded" / "encrypted" / name
        shutil.copytree(recorded, archive, ignore=shutil.ignore_patterns("keys.*", "secret.*", "expected"))
        shutil.copy(recorded / "keys.first", f"keys/{keys}.monday")
        shutil.copy(recorded / "keys.second", f"keys/{keys}.now")
    shutil.copy(recorded / "secret.second", "keys/secret")


@contextmanager
def _server(option_file: str) -> Iterator[None]:
    """A server that has the demo's binlogs, and the option file that leads there."""
    with BinlogServer(ARCHIVE) as server:
        Path(option_file).write_text(f'[client]\nuser=repl\npassword="{PASSWORD}"\nhost=127.0.0.1\n'
                                     f"port={server.url.rpartition(':')[2]}\n")
        yield


@contextmanager
def _server_and_store() -> Iterator[None]:
    with _server("db1.cnf"), object_store("lake"):
        yield


@contextmanager
def _managed_server() -> Iterator[None]:
    """A server, and a dump of it that does not say where in the log it was made."""
    applier.replay(ARCHIVE, "dumped", stop="binlog.000002:899878", engine="local")
    applier.export("dumped", "dump", engine="local")
    files = [Path("dump/_schema.sql"), *sorted(Path("dump").glob("*/*/*.sql"))]
    lines = [line for file in files for line in file.read_text().splitlines(keepends=True)]
    Path("dump.sql").write_text("".join(line for line in lines if not line.startswith(("-- CHANGE", "-- SET"))))
    with _server("rds.cnf"):
        yield


@contextmanager
def _archive_in_a_store() -> Iterator[None]:
    """The demo's archive in a bucket, and a bucket for the lake."""
    with object_store("backup", "lake"):
        fs.copy_files(str(ARCHIVE), "s3://backup/binlogs")
        yield


_BEGINNINGS: dict[str, Callable[[], AbstractContextManager[None] | None]] = {
    "check-without-stopping": _diverged_replica,
    "delete-without-where": _next_morning,
    "diverged-replica": _diverged_replica,
    "emptied-partition": _partitioned_orders,
    "encrypted-archives": _encrypted_archives,
    "follow-into-iceberg": _server_and_store,
    "lake-from-s3": _archive_in_a_store,
    "rds-aurora": _managed_server,
}
