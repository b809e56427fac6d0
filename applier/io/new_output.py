"""Files and directories of this machine that people name for output: complete and on the disk, or not there."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from applier.errors import UsageError
from applier.io import durable
from applier.io.full_disk import explained


def check_new(path: str) -> None:
    """Raise UsageError if a file or directory is there: for jobs that write their output at their end."""
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
    the block, once it is on the disk, and is removed where the block raises.

    A file that is there already is replaced if the caller says so. A pipe or a device, such as /dev/stdout, is written
    directly. Raises UsageError for a path that exists, ApplierError for a full disk, and OSError.
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
