"""The paths of files in a snapshot: one folder for each table; and requests to the file system that has them."""

from collections.abc import Callable, Sequence

from pyarrow.fs import FileSystem

from applier.io import partial_copy
from applier.io.partial_copy import Answer
from applier.io.resolver import is_inside, is_local, is_plain_inside, read_text, resolve

__all__ = ["at_once", "is_inside", "is_local", "is_plain_inside", "read_text", "resolve", "table_folder"]

_NOT_IN_FOLDERS = frozenset('/\\:%*?[]{}#=')
_LONGEST_NAME = 200
"""The longest name of a folder in bytes; file systems allow 255."""


def at_once(filesystem: FileSystem, requests: Sequence[Callable[[], Answer]]) -> list[Answer]:
    """Make requests and return their results: at the same time on a store, where each waits for an answer, and one
    after the other on this machine. None may make others so. Raises the first one's error."""
    return [request() for request in requests] if is_local(filesystem) else partial_copy.at_once(requests)


def table_folder(database: str, table: str) -> str:
    """Return the folder of a table in a snapshot, "DB/TABLE", with characters that have a meaning in paths encoded.

    A "_" at the start of a database's name is encoded, since the names of the snapshot's own files start with it
    (docs/SNAPSHOT_FORMAT.md). At the start of a table's name it stays (`_orders_gho`): Spark warns that such a folder
    looks hidden, but reads it.
    """
    return f"{_folder_name(database, '._')}/{_folder_name(table, '.')}"


def _folder_name(name: str, not_first: str) -> str:
    """Return the name with characters percent-encoded that have a meaning in paths, URIs or Hadoop's path patterns, and
    with a character of `not_first` encoded at the start. A name that becomes too long is truncated, and a digest keeps
    it distinct."""
    kept = [char if char.isprintable() and char not in _NOT_IN_FOLDERS and (index or char not in not_first) else
            "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
            for index, char in enumerate(name)]
    folder = "".join(kept)
    if len(folder.encode()) <= _LONGEST_NAME:
        return folder
    import hashlib

    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return folder.encode()[: _LONGEST_NAME - 17].decode(errors="ignore") + "-" + digest
