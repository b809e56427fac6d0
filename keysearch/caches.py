"""The user's folders for compiled code. A process runs what it finds there, so no other user may be able to change it.

A path is trusted if each directory and symbolic link on it, and what it ends at, belong to this user or to root, and no
other user can write to them. These are fine: a sticky directory such as /tmp, where users cannot rename files of
others; a group that has the user's name and no other members; any mode below a directory that others cannot enter.
"""

import atexit
import contextlib
import logging
import os
import pwd
import shutil
import stat
import tempfile
from functools import cache
from pathlib import Path

_PRIVATE = "APPLIER_PRIVATE_CACHE"
"""The environment variable by which a process tells those that it starts its private folder."""
_MOST_LINKS = 40


def user_folder(*names: str) -> str:
    """Return the path of a folder in the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, *names)


@cache
def usable(folder: str, *, is_below: bool = False, is_needed: bool = True) -> str:
    """Return this folder if it and its direct contents are trusted, or if it can be made at a trusted path. If not,
    return a folder of the same name in the private one, and log a warning, once for a process and those that it starts.
    A folder that `is_below` a usable one has a trusted path. One that is not needed is worth no warning."""
    if folder.startswith("~"):
        reason: str | None = "there is no home directory"
    else:
        reason = (None if is_below else why_untrusted(folder)) or _inside(folder)
    if not reason:
        return folder
    private, is_new = _private_folder()
    if is_new:
        logging.getLogger(__name__).log(
            logging.WARNING if is_needed else logging.INFO,
            "applier: note: the cache %s is not used: %s. Compiled code is kept in %s; XDG_CACHE_HOME names another "
            "cache folder", ascii(folder)[1:-1], ascii(reason)[1:-1], private)
    return os.path.join(private, os.path.basename(folder))


def make(folder: str) -> None:
    """Make a folder, and those above it that are missing, for this user only (0700). Errors: OSError."""
    parent = os.path.dirname(folder)
    if parent and not os.path.isdir(parent):
        make(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def why_untrusted(path: str) -> str | None:
    """Return why other users could change this path, or why it cannot be made; None if it is trusted."""
    reached, n_links = "/", 0
    names = os.path.abspath(path).split("/")[:0:-1]
    try:
        while True:
            status = os.lstat(reached)
            if stat.S_ISLNK(status.st_mode):
                n_links += 1
                if n_links > _MOST_LINKS or status.st_uid not in (0, os.getuid()):
                    return f"the symbolic link {reached} belongs to {_name_of(status.st_uid)}"
                target = os.readlink(reached)
                names += target.split("/")[::-1]
                reached = "/" if target.startswith("/") else os.path.dirname(reached)
            elif reason := _why(reached, status):
                return reason
            while names and names[-1] in ("", "."):
                names.pop()
            if not names:
                return None
            name = names.pop()
            if name == "..":
                reached = os.path.dirname(reached)
                continue
            parent, reached = reached, os.path.join(reached, name)
            if not os.path.lexists(reached):
                return None if os.access(parent, os.W_OK | os.X_OK) else f"{reached} cannot be made"
    except OSError as error:
        return str(error.strerror)


def _inside(folder: str) -> str | None:
    """Return why something directly in a folder is not trusted; the folder may be missing."""
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    return f"{entry.path} is a symbolic link"
                if reason := _why(entry.path, status):
                    return reason
    except FileNotFoundError:  # another process removes or renames its files
        return None
    except OSError as error:
        return f"{folder}: {error.strerror}"
    return None


def _why(path: str, status: os.stat_result) -> str | None:
    """Return why others could write to a file or a directory itself, None if they could not."""
    mode = status.st_mode
    if status.st_uid not in (0, os.getuid()):
        return f"{path} belongs to {_name_of(status.st_uid)}"
    is_sticky = stat.S_ISDIR(mode) and mode & stat.S_ISVTX
    is_writable = mode & stat.S_IWOTH or (mode & stat.S_IWGRP and not _is_private_group(status.st_gid))
    if is_writable and not is_sticky and _others_can_enter(os.path.dirname(path)):
        return f"other users can write to {path}"
    return None


def _others_can_enter(directory: str) -> bool:
    path = os.path.realpath(directory)
    return all(os.stat(one).st_mode & (stat.S_IXGRP | stat.S_IXOTH) for one in (path, *map(str, Path(path).parents)))


def _name_of(uid: int) -> str:
    try:
        return f"the user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"the user {uid}"


def _is_private_group(gid: int) -> bool:
    """Return whether this is the group of one user, as systems make it whose umask is 002."""
    import grp

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    return user.pw_gid == gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}


def _private_folder() -> tuple[str, bool]:
    """Return a folder that is this user's alone, and whether this process is the first to use it. Each run uses the
    same one. Where others could replace that, it has a name that cannot be guessed, and this process removes it."""
    if (given := os.environ.get(_PRIVATE)) and _is_own(given):
        return given, False
    folder = os.path.join(tempfile.gettempdir(), f"applier-cache-{os.getuid()}")
    with contextlib.suppress(OSError):
        make(folder)
    if not _is_own(folder) or why_untrusted(folder):
        folder = tempfile.mkdtemp(prefix="applier-cache-")
        atexit.register(_remove, folder, os.getpid())
    os.environ[_PRIVATE] = folder
    return folder, True


def _is_own(folder: str) -> bool:
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _remove(folder: str, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
