"""Creates files only if none of that name exists, on file systems that can do so in one step.

    local    a hard link, which the file system refuses if the file exists
    s3://    a put with If-None-Match, by obstore: pyarrow has no such put. A store that supports it answers 412 if the
             object exists; one that ignores the condition writes

obstore has credentials from the environment or from the machine's role.

Output files and directories that a user names are complete and durable, or do not exist."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, unquote

from applier.errors import UsageError
from applier.io.disk import durable
from applier.io.disk.full_disk import explained
from applier.io.resolver import divided, is_uri

if TYPE_CHECKING:
    from obstore.store import S3Config, S3Store

def check_new(path: str) -> None:
    """Raise UsageError if a file or directory exists: for jobs that write their output at their end."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        if not os.path.lexists(path):
            return
        mode = stat.S_IFREG
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        raise UsageError("the output already exists", file=path, hint="choose a name that does not exist")


@contextmanager
def new_output(path: str, *, replaces: bool = False) -> Iterator[str]:
    """Yield a name beside a path for the file or directory that is to be made there. It becomes the path at the end of
    the block, once it is durable, and is removed if the block raises.

    An existing file is replaced if the caller says so. A pipe or a device, such as /dev/stdout, is written directly.
    Raises UsageError for a path that exists, ApplierError for a full disk, and OSError.
    """
    mode = None
    if not replaces:
        check_new(path)
    if os.path.lexists(path):
        if replaces:
            path = os.path.realpath(path)
        with suppress(FileNotFoundError):
            mode = os.stat(path).st_mode
        if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            with explained(path):
                yield path
            return
    partial = f"{path}.partial.{os.getpid()}"
    try:
        with explained(path):
            yield partial
            if mode is not None:
                os.chmod(partial, stat.S_IMODE(mode))
            durable.sync_tree(partial) if os.path.isdir(partial) else durable.sync([partial])
            os.rename(partial, path)
    except BaseException:
        with suppress(OSError):
            shutil.rmtree(partial) if os.path.isdir(partial) else os.unlink(partial)
        raise


_S3 = "s3://"


def store_options(uri: str) -> dict[str, str]:
    """Return the options with which stores in Rust (deltalake's, obstore's) find the store that pyarrow finds by a
    uri."""
    if not is_uri(uri):
        return {}
    given = {name: values[-1] for name, values in parse_qs(divided(uri)[1].lstrip("?")).items()}
    options = {}
    if endpoint := given.get("endpoint_override"):
        options["AWS_ENDPOINT_URL"] = endpoint if is_uri(endpoint) else f"{given.get('scheme', 'https')}://{endpoint}"
    endpoint = options.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT_URL", "")
    if endpoint.startswith("http:"):  # pyarrow takes it without being told
        options["AWS_ALLOW_HTTP"] = "true"
    if region := given.get("region"):
        options["AWS_REGION"] = region
    return options


def can_make(uri: str) -> bool:
    """Return whether there is a way to make a file on condition at a path or uri; the store may still refuse it."""
    return not is_uri(uri) or (uri.startswith(_S3) and find_spec("obstore") is not None)


def make(uri: str, content: bytes) -> bool:
    """Make a small file, complete and durable, where `can_make` says so and if there is none; returns whether there was
    none. Where an answer was lost and the file is the one that was to be made, there was. Errors: OSError."""
    if not is_uri(uri):
        return _make_local(uri, content)
    import obstore
    from obstore.exceptions import AlreadyExistsError, BaseError

    location, query = divided(uri)
    bucket, _, key = location.removeprefix(_S3).partition("/")
    environment = tuple((name, value) for name, value in os.environ.items() if name.startswith("AWS_"))
    store = _store(bucket, tuple(store_options(f"{_S3}{bucket}{query}").items()), environment)
    key = unquote(key)
    try:
        try:
            obstore.put(store, key, content, mode="create")
        except AlreadyExistsError:
            return bytes(obstore.get(store, key).bytes()) == content
    except BaseError as error:
        raise OSError(str(error).strip().partition("\n")[0]) from error
    return True


@lru_cache(maxsize=8)
def _store(bucket: str, options: tuple[tuple[str, str], ...], environment: tuple[tuple[str, str], ...]) -> S3Store:
    """Return a store with these options, and others in `environment`, which obstore reads itself: another environment
    needs another store, as when credentials were renewed."""
    from obstore.store import S3Store

    given = dict(options)
    allow_http = given.pop("AWS_ALLOW_HTTP", "false") == "true"
    config = {name.lower(): value for name, value in given.items()}
    return S3Store(bucket, config=cast("S3Config", config), client_options={"allow_http": allow_http})


def _make_local(path: str, content: bytes) -> bool:
    folder, name = os.path.split(os.path.abspath(path))
    hidden = f"{folder}/.{name}.{uuid.uuid4().hex}"
    try:
        with open(hidden, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(hidden, path)
        except FileExistsError:
            return False
    finally:
        if os.path.exists(hidden):
            os.unlink(hidden)
    durable.sync([folder])
    return True
