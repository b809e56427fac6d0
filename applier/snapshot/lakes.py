"""The root of a lake: where its versions are, which one is the latest, and the lake's identity.

    LAKE/_lake.json                   {format_version, id}: marks a lake root; written first
    LAKE/LATEST                       the name of the newest version, for people and other tools
    LAKE/_versions/0000000012/        a version: a manifest and its small files; the paths in it are below LAKE
    LAKE/DB/TABLE/part-….parquet      tables' files, which versions share; LAKE/_history/DB/TABLE, too
    LAKE/_data/ID/part-….data         the same in a lake that merges on read (format version 2), where no pattern for a
                                      table's name finds them; in ID/changes row files and positions
    LAKE/_staging/…                   files of runs that have not published
    LAKE/_leases/NAME.json            until when a reader needs a version
    LAKE/_published/NAME.json         which version or files a published table needs

A version is complete if its manifest exists, and the latest is the complete one with the highest number.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import orjson
from pyarrow import fs

from applier.errors import SnapshotError, reason
from applier.io.disk import durable, new_files
from applier.io.resolver import divided, join
from applier.io.typed_json import Mismatch, build, loads
from applier.snapshot.files import location

MANIFEST = "_snapshot.json"
MARK = "_lake.json"
LATEST = "LATEST"
VERSIONS = "_versions"
STAGING = "_staging"
LEASES = "_leases"
PUBLISHED = "_published"
DATA = "_data"
FORMAT_VERSION, MERGING_VERSION = 1, 2
"""The format versions of a lake of whole files, and of a lake that merges on read."""
_DIGITS = 10
_VERSION = re.compile(rf"(?P<lake>.*?)/*(?:^|/){VERSIONS}/+(?P<number>[0-9]{{1,{_DIGITS}}})/*")

LakeId = Annotated[str, lambda id: "" if re.fullmatch("[0-9a-f]{32}", id) else "is no lake's id"]


@dataclass(frozen=True)
class Mark:
    """The document that marks a lake root."""

    format_version: int
    id: LakeId

    @property
    def merges(self) -> bool:
        """True if the lake merges on read."""
        return self.format_version == MERGING_VERSION


def version_name(number: int) -> str:
    """Return the name of a version's folder; names sort like numbers."""
    return f"{number:0{_DIGITS}}"


def version_uri(lake: str, number: int) -> str:
    """Return the path or URI of a version."""
    return join(lake, f"{VERSIONS}/{version_name(number)}")


def exact(uri: str) -> str:
    """Return a path or URI `LAKE/_versions/N` in the form of `version_uri`; any other one unchanged."""
    path, query = divided(uri)
    found = _VERSION.fullmatch(path)
    return uri if found is None else f"{path[:found.start('number')]}{version_name(int(found['number']))}{query}"


def root_of(uri: str) -> str:
    """Return the path or URI of the lake, given `LAKE/_versions/N`; any other one unchanged."""
    place, query = divided(uri)
    found = _VERSION.fullmatch(place)
    return uri if found is None else f"{found['lake'] or '.'}{query}"


def number_of(uri: str) -> int:
    """Return the number of the version at a path or URI."""
    return int(divided(uri)[0].rstrip("/").rpartition("/")[2])


def id_of(filesystem: fs.FileSystem, root: str) -> str | None:
    """Return the id of the lake at a path; None if there is no lake. Raises SnapshotError for a damaged mark."""
    mark = mark_of(filesystem, root)
    return None if mark is None else mark.id


def mark_of(filesystem: fs.FileSystem, root: str) -> Mark | None:
    """Return the mark of the lake at a path; None if there is no lake. Raises SnapshotError for a damaged mark."""
    path = f"{root}/{MARK}"
    try:
        with filesystem.open_input_stream(path, compression=None) as stream:
            text = stream.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=path) from error
    try:
        mark = build(Mark, loads(text))
    except Mismatch as mismatch:
        raise SnapshotError(f"{MARK} is damaged: {mismatch}", file=path,
                            hint="the manifests of the lake's versions name its id; write it again") from mismatch
    if mark.format_version not in (FORMAT_VERSION, MERGING_VERSION):
        raise SnapshotError(f"the lake has format version {mark.format_version}, this version reads {FORMAT_VERSION} "
                            f"and {MERGING_VERSION}", file=path, hint="use the version that wrote it, or a newer one")
    return mark


def numbers(filesystem: fs.FileSystem, root: str) -> list[int]:
    """Return the numbers of all versions of the lake at a path, ascending, incomplete ones included. Errors: OSError.
    """
    infos = filesystem.get_file_info(fs.FileSelector(f"{root}/{VERSIONS}", allow_not_found=True))
    return sorted(int(info.base_name) for info in infos
                  if info.type == fs.FileType.Directory and re.fullmatch(rf"[0-9]{{{_DIGITS}}}", info.base_name))


def complete(filesystem: fs.FileSystem, root: str) -> list[int]:
    """Return the numbers of complete versions, ascending. Errors: OSError."""
    found = numbers(filesystem, root)
    infos = filesystem.get_file_info([f"{root}/{VERSIONS}/{version_name(number)}/{MANIFEST}" for number in found])
    return [number for number, info in zip(found, infos, strict=True) if info.type == fs.FileType.File]


def found(filesystem: fs.FileSystem, root: str) -> tuple[Mark | None, int | None]:
    """Return the mark of the lake at a path and the number of its latest complete version, each None if there is none.
    Raises SnapshotError for a damaged mark; errors: OSError."""
    requests: list[Callable[[], Any]] = [partial(mark_of, filesystem, root), partial(_pointed_at, filesystem, root)]
    mark, pointed = location.at_once(filesystem, requests)
    return mark, None if mark is None else _latest_from(filesystem, root, pointed)


def latest(filesystem: fs.FileSystem, root: str) -> int | None:
    """Return the number of the latest complete version; None if there is none. Errors: OSError."""
    return _latest_from(filesystem, root, _pointed_at(filesystem, root))


def _latest_from(filesystem: fs.FileSystem, root: str, pointed: int | None) -> int | None:
    """Return the same, given the version that LATEST names.

    If there are many versions, not all are listed, but only the numbers after that one are tried: a run that was
    killed before it wrote LATEST leaves it behind, and no version expires before LATEST is correct.
    """
    if pointed is not None:
        is_right, has_next = location.at_once(filesystem, [
            partial(is_complete, filesystem, root, number) for number in (pointed, pointed + 1)])
        if is_right:
            while has_next:
                pointed += 1
                has_next = is_complete(filesystem, root, pointed + 1)
            return pointed
    return next((number for number in reversed(numbers(filesystem, root)) if is_complete(filesystem, root, number)),
                None)


def is_published(filesystem: fs.FileSystem, root: str, number: int) -> bool:
    """Return whether a version of this number, or a later one, was published: it may have expired. Errors: OSError."""
    requests: list[Callable[[], Any]] = [partial(is_complete, filesystem, root, number),
                                         partial(_pointed_at, filesystem, root)]
    is_there, pointed = location.at_once(filesystem, requests)
    if is_there or (pointed is not None and pointed < number):
        return bool(is_there)
    return (_latest_from(filesystem, root, pointed) or 0) >= number


def is_complete(filesystem: fs.FileSystem, root: str, number: int) -> bool:
    """Return whether there is a complete version of this number. Its folder is listed: that is one request to a store,
    and asking for a file that is missing is several. Errors: OSError."""
    folder = f"{root}/{VERSIONS}/{version_name(number)}"
    return any(info.base_name == MANIFEST and info.type == fs.FileType.File
               for info in filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True)))


def _pointed_at(filesystem: fs.FileSystem, root: str) -> int | None:
    try:
        with filesystem.open_input_stream(f"{root}/{LATEST}", compression=None) as stream:
            said = stream.read(_DIGITS + 2).strip()
    except OSError:
        return None
    return int(said) if len(said) == _DIGITS and said.isdigit() else None


def latest_uri(uri: str) -> str | None:
    """Return the path or URI of the latest version of the lake at a path or URI; None if there is no lake. Raises
    SnapshotError for a lake without a version."""
    filesystem, root = location.resolve(uri)
    try:
        mark, number = found(filesystem, root)
    except OSError as error:
        raise SnapshotError(f"the lake cannot be read: {reason(error)}", file=uri) from error
    if mark is None:
        return None
    if number is None:
        raise SnapshotError("the lake has no version yet", file=uri, hint="a replay with --lake makes one")
    return version_uri(uri, number)


def make(uri: str, *, merges: bool) -> Mark:
    """Create a lake at a path or URI if there is none, and return its mark. `merges`: it merges on read. Raises
    SnapshotError for a folder with other contents. Errors: OSError."""
    filesystem, root = location.resolve(uri)
    if (known := mark_of(filesystem, root)) is not None:
        return known
    filesystem.create_dir(root, recursive=True)
    there = [info.base_name for info in filesystem.get_file_info(fs.FileSelector(root))
             if not info.base_name.startswith(f".{MARK}")]
    if there:
        if (known := mark_of(filesystem, root)) is not None:  # another run makes it at the same time
            return known
        raise SnapshotError(f"not a lake: it has no {MARK}, but it is not empty", file=uri,
                            hint="name a folder that is new or empty, or a lake")
    mark = Mark(MERGING_VERSION if merges else FORMAT_VERSION, uuid.uuid4().hex)
    _mark(uri, filesystem, root, orjson.dumps(mark, option=orjson.OPT_APPEND_NEWLINE))
    made = mark_of(filesystem, root)  # of two runs that make it at once, one's
    if made is None:
        raise SnapshotError(f"{MARK} disappeared after it was written", file=uri)
    return made


def _mark(uri: str, filesystem: fs.FileSystem, root: str, text: bytes) -> None:
    """Write the mark unless another run has."""
    if new_files.can_make(uri):
        try:
            new_files.make(join(uri, MARK), text)
            return
        except OSError:  # without links or conditions, two runs that make a lake at once are not told apart
            pass
    hidden = f"{root}/.{MARK}-{uuid.uuid4().hex}" if location.is_local(filesystem) else f"{root}/{MARK}"
    with filesystem.open_output_stream(hidden, compression=None) as stream:
        stream.write(text)
    if location.is_local(filesystem):
        durable.sync([hidden])
        os.replace(hidden, f"{root}/{MARK}")
        durable.sync([root, os.path.dirname(root)])
