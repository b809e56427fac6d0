"""Resolves locations that users, dumps and archives name to a file system and a path in it: the only module that does.

A location is a path of this machine, absolute or from the current directory, or a URI (s3://, gs://, abfs://, hdfs://,
file://) as pyarrow.fs opens them. A text that begins with letters and "://" is a URI, and nothing else is.
"""

import os
import pathlib
import posixpath
import re
import stat
import threading
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from applier.errors import UsageError, reason
from applier.io.printable import printable
from applier.io.transient import is_transient, unavailable

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

PROBE_SECONDS = 2
_CREDENTIALS = dict.fromkeys(("gs", "gcs"), "set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account's "
                             "key, or run `gcloud auth application-default login`")
_CREDENTIALS |= dict.fromkeys(("abfs", "abfss"), "set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET, or run "
                              "`az login`; the URI is abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH")
"""By the scheme of a URI, where a store's client finds credentials."""
_S3 = "s3://"
_IN_S3 = re.compile(r"s3://[\w.-]+(?:/(?:[\w.~/+=,:;!$&'()*-]|%[0-9A-Fa-f]{2})*)?(?:\?[^#\s]*)?", re.ASCII)
"""A bucket and a path that are plain, and what follows a "?"."""
_opening = threading.Lock()
_reached: set[str] = set()
_NO_NAMES = frozenset(("", ".", ".."))
_ENDS = re.compile("[/?#]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_uri(location: str) -> bool:
    """Return whether it is a uri, not a path."""
    return _SCHEME.match(location) is not None


def is_far(location: str) -> bool:
    """Return whether it is not on a file system of this machine."""
    return is_uri(location) and not location.startswith("file:")


def resolve(location: str) -> tuple["FileSystem", str]:
    """Return the file system of a path or uri and the path in it, absolute, without an end slash.

    Errors: UsageError if no such file system is known, or it cannot be reached, for a text that is not a path, and for
    a uri with a password, which is not repeated.
    """
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, LocalFileSystem

    _check(location)
    if not is_uri(location):
        return LocalFileSystem(), os.path.abspath(location)
    try:
        if _IN_S3.fullmatch(location):
            return _in_s3(location)
        filesystem, path = FileSystem.from_uri(location)
    except (ArrowException, OSError, NotImplementedError) as error:
        raise UsageError(f"cannot open {location}: {error}", file=location,
                         hint="a path of this machine, or s3://, gs://, abfs://, hdfs:// as pyarrow.fs opens them"
                         ) from error
    if hint := _CREDENTIALS.get(location.partition("://")[0].lower()):
        _check_access(location, hint)
    return filesystem, path.rstrip("/") or "/"


def _in_s3(location: str) -> tuple["FileSystem", str]:
    plain, query = divided(location)
    if "allow_delayed_open" not in query:  # a small new file is one request then
        query = f"{query or '?'}{'&' * (len(query) > 1)}allow_delayed_open=true"
    path = unquote(plain.removeprefix(_S3)).rstrip("/")
    environment = tuple((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    with _opening:
        return _bucket(f"{_S3}{path.partition('/')[0]}{query}", environment, os.getpid()), path or "/"


@lru_cache(maxsize=64)
def _bucket(uri: str, environment: tuple[tuple[str, str], ...], process: int) -> "FileSystem":
    """Open a bucket, once in a process and an environment: that takes until all requests that are under way have their
    answers."""
    from pyarrow.fs import FileSystem

    filesystem: FileSystem = FileSystem.from_uri(uri)[0]
    return filesystem


def _check_access(location: str, hint: str) -> None:
    """Check once per process for each bucket that the store can be reached with the current credentials. Google's
    client would try for a quarter of an hour, and Azure's errors are not those of a file system. Raises UsageError, and
    StoreUnavailable for a busy one."""
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem

    plain, query = divided(location)
    bucket = "/".join(plain.split("/")[:3]) + query
    if bucket in _reached:
        return
    if plain.startswith("g") and "retry_limit_seconds" not in query:
        query = f"{query or '?'}{'&' * (len(query) > 1)}retry_limit_seconds={PROBE_SECONDS}"
    try:
        filesystem, path = FileSystem.from_uri(plain + query)
        filesystem.get_file_info(path)
    except (ArrowException, OSError) as error:
        if isinstance(error, OSError) and is_transient(error):
            raise unavailable(error, location) from error
        said = str(error).splitlines()[0].partition(" error_info=")[0]
        if "PERMISSION_DENIED" not in said:  # of this path, maybe: its user reports it
            raise UsageError(f"cannot reach {bucket}: {said}", file=location, hint=hint) from error
    _reached.add(bucket)


def _check(location: str) -> None:
    try:
        whole = "\0" not in location and location.encode() is not None
    except UnicodeEncodeError:
        whole = False
    if not whole:
        raise UsageError("paths are UTF-8 without a NUL", file=printable(location), hint="rename the file")
    if is_uri(location) and _has_password(location):
        raise UsageError("the URI contains a password or a secret key, which process lists and manifests would show",
                         hint="remove it, and give it in the environment (AWS_ACCESS_KEY_ID and "
                              "AWS_SECRET_ACCESS_KEY), or in the store's own credentials file")


def _has_password(uri: str) -> bool:
    """Return whether it has scheme://NAME:PASSWORD@, also with a "/" in the password; HOST:PORT/… with a "@" later is
    none."""
    before, at, _ = uri.partition("://")[2].partition("@")
    name, colon, password = before.partition(":")
    port, slash, _ = password.partition("/")
    return bool(at and colon) and _ENDS.search(name) is None and not (slash and port.isdigit())


def is_local(filesystem: "FileSystem") -> bool:
    """Return whether paths are the operating system's own, so that files can be linked, locked, made durable and
    renamed."""
    return bool(filesystem.type_name == "local")


def absolute(location: str) -> str:
    """Return the location in a form that is valid anywhere on this machine."""
    return location if is_uri(location) else os.path.abspath(location)


def join(folder: str, name: str) -> str:
    """Return the location of this path in a folder. Only "/" has a meaning in the path."""
    if not is_uri(folder):
        return f"{folder.rstrip('/')}/{name}" if folder else name
    plain, query = divided(folder)
    return f"{plain.rstrip('/')}/{quote(name)}{query}"


def folder_of(location: str) -> str:
    """The folder that a file is in; "." where a path names none."""
    plain, query = divided(location)
    return (posixpath.dirname(plain) or ".") + query


def divided(location: str) -> tuple[str, str]:
    """Return a uri without the part from a "?" on, and that part; a path, and ""."""
    plain, mark, query = location.partition("?") if is_uri(location) else (location, "", "")
    return plain, mark + query


def is_inside(path: str) -> bool:
    """Return whether a relative path that is written with "/" stays in its folder."""
    parts = pathlib.PurePosixPath(path).parts
    return bool(parts) and not path.startswith("/") and ".." not in parts


def is_plain_inside(path: str) -> bool:
    """Return whether it also is the one way to write it, and without characters that no file of a snapshot has. Paths
    that are joined by "/" are, if and only if each of them is."""
    return path.isprintable() and "\\" not in path and _NO_NAMES.isdisjoint(path.split("/"))


def below(folder: str, name: str) -> str:
    """The location of a file that something in a folder names by a relative path. Raises UsageError for a file outside
    of the folder: another path, a uri, a link that leads out of it."""
    if is_uri(name) or not is_inside(name):
        raise UsageError(f"the file {name} is outside of the dump", file=folder,
                         hint="only files below the folder are read, by relative paths")
    _check(name)
    filesystem, root = resolve(folder)
    if is_local(filesystem):
        real, whole = os.path.realpath(root), os.path.realpath(f"{root}/{name}")
        if os.path.commonpath([real, whole]) != real:
            raise UsageError(f"the file {name} is a link that leads out of the dump", file=folder,
                             hint="copy what it leads to into the folder")
    return join(folder, name)


def files_below(folder: str) -> list[str]:
    """The paths in a folder of all files below it, sorted. Links to folders are not followed. Errors: OSError, and
    UsageError for a name that is not UTF-8."""
    from pyarrow.fs import FileSelector, FileType

    filesystem, root = resolve(folder)
    if is_local(filesystem):
        found = [os.path.relpath(os.path.join(plain, name), root) for plain, _, names in os.walk(root, onerror=_raise)
                 for name in names]
    else:
        infos = filesystem.get_file_info(FileSelector(root, recursive=True))
        found = [posixpath.relpath(info.path, root) for info in infos if info.type == FileType.File]
    for name in found:
        _check(name)
    return sorted(found)


def _raise(error: OSError) -> None:
    raise error


def check_regular(location: str, hint: str | None = None) -> None:
    """Raise UsageError for a path of a pipe, a socket or a device. Opening one could wait forever, and files are read
    twice or from the middle. A missing file is reported when it is opened."""
    if is_uri(location):
        return
    with suppress(OSError, ValueError):
        mode = os.stat(location).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError("this is not a regular file, but a pipe, a socket or a device", file=location,
                             hint=hint or "copy what it gives into a file")


def read_text(location: str) -> str:
    """A whole text file. Errors: UsageError where it cannot be read, or is not UTF-8."""
    check_regular(location)
    filesystem, path = resolve(location)
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            text: str = stream.read().decode()
            return text
    except (OSError, UnicodeDecodeError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"the file cannot be read: {why}", file=location) from error
