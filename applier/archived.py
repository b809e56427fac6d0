"""Leaves the zip or wheel that Python imports this package from, such as `spark-submit --py-files` sends.

Compiled kernels are found by the source files of their modules, and those of a wheel are loaded from files. So an
archive is unpacked once per machine and user, into the cache, and imported from there.
"""

import hashlib
import os
import sys
import tempfile
import zipfile
from contextlib import suppress
from importlib import import_module
from zipimport import zipimporter

from keysearch import caches

_PACKAGES = ("applier", "keysearch", "jsondiff")
source: str | None = None
"""The path of the archive that this process was started with."""


def leave(loader: object) -> None:
    """If `loader` read this package from an archive, unpack it and import the package again."""
    if not isinstance(loader, zipimporter):
        return
    archive = os.path.abspath(loader.archive)
    folder = _unpacked(archive)
    sys.path[:] = [folder if os.path.abspath(entry) == archive else entry for entry in sys.path]
    for name in [*sys.modules]:
        if name.partition(".")[0] in _PACKAGES:
            del sys.modules[name]
    import_module("applier.archived").started_with(archive)


def started_with(archive: str) -> None:
    """Note the archive, in the module that is imported again."""
    global source
    source = archive


def _unpacked(archive: str) -> str:
    """The folder with the packages of an archive, complete."""
    with open(archive, "rb") as file:
        name = f"unpacked-{hashlib.file_digest(file, hashlib.sha256).hexdigest()[:16]}"
    folder = caches.usable(caches.user_folder("mysql-binlog-applier", name))
    if not os.path.isdir(folder):
        caches.make(parent := os.path.dirname(folder))
        with tempfile.TemporaryDirectory(dir=parent) as made, zipfile.ZipFile(archive) as file:
            new = os.path.join(made, "new")
            file.extractall(new, [name for name in file.namelist() if name.partition("/")[0] in _PACKAGES])
            with suppress(OSError):  # another process was quicker
                os.rename(new, folder)
    return folder
