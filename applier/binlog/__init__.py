"""Binlog files: archive, events, outline, row images.

`open` reads the events of binlogs in any Python program, without Spark, kernels or a schema. `Writer` builds a log.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["archive", "events", "locating", "outline", "rows"]

if TYPE_CHECKING:
    from applier.api.building import Writer as Writer
    from applier.binlog.archive.reader import EventReader
    from applier.io.encryption.keys import Keys


def __getattr__(name: str) -> object:
    """Load `Writer` when it is first used: it is public here, but its code is in a package above."""
    if name != "Writer":
        raise AttributeError(f"module 'applier.binlog' has no attribute {name!r}")
    return import_module("applier.api.building").Writer


def open(*paths: str, keys: "Keys | None" = None, keyring: Sequence[str] = (), key_file: Sequence[str] = (),
         key_file_secret: str | None = None) -> "EventReader":
    """Return an iterable of the events of binlogs, in order. Each path is a file, a directory, an index file or a glob,
    local or a URI.

    `keys` says where the keys of encrypted binlogs are; instead, `keyring`, `key_file` and `key_file_secret` may be
    given.

    An event has the fields of its header (`file`, `position`, `size`, `end_log_pos`, `type`, `name`, `timestamp`,
    `server_id`, `flags`, `group_id`), `body` (its bytes), and `content`: its fields, parsed at the first access.
    `events()` returns the events within a compressed one.

        transactions = 0
        for event in applier.binlog.open("/backup/binlogs"):
            if event.name in ("GTID", "MARIADB_GTID"):
                transactions += 1
            elif event.name == "QUERY" and event.content.sql.startswith(b"ALTER"):
                print(event.file, event.position, event.content.database, event.content.text)

    Raises UsageError and ArchiveError as `archive.open_archive` does, and ArchiveError (1610) for a damaged file,
    after the events before the damage.
    """
    from applier.binlog.archive.reader import open_reader
    from applier.io.encryption.keys import Keys

    return open_reader((keys or Keys(keyring, key_file, key_file_secret)).of(paths))
