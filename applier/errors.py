"""The one family of errors: each says what happened, where, and what to do next.

`exit_code` is the exit code of the command line: 1 if the data or a definition does not allow the replay (a replica
would stop, too, or the behaviour of a server is unknown), 2 if the usage is wrong or the input cannot be read, 75 if
another run was first or a store did not answer, so that the same command may succeed later. `mysql_errno` is MySQL's
own number, if MySQL has one. Errors are picklable, since they travel from Spark's tasks to the driver.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ClassVar, Self

_DRAWN = re.compile("\x1b\\[[0-9;]*m|↳")
KEY_NOT_FOUND = 1032  # ER_KEY_NOT_FOUND
DUPLICATE_KEY = 1062  # ER_DUP_ENTRY
NO_DATABASE = 1046  # ER_NO_DB_ERROR
NO_SUCH_TABLE = 1146  # ER_NO_SUCH_TABLE
LOG_GAP = 1236  # ER_MASTER_FATAL_ERROR_READING_BINLOG
SAVEPOINT_DOES_NOT_EXIST = 1305  # ER_SP_DOES_NOT_EXIST
UNKNOWN_XID = 1397  # ER_XAER_NOTA
CORRUPT_EVENT = 1610  # ER_REPLICA_CORRUPT_EVENT
COLUMN_CONVERSION = 1677  # ER_REPLICA_CONVERSION_FAILED


class _Wording:
    """How texts for people name options. They are written as for the command line; `in_python` converts them."""

    def __init__(self) -> None:
        self.in_python: Callable[[str], str] = str
        self.is_command_line = False


_wording = _Wording()


def word_in_python(convert: Callable[[str], str]) -> None:
    """Have errors and notes name options as Python does, unless the command line runs. `convert` returns such a text,
    given one for the command line."""
    _wording.in_python = convert


@contextmanager
def wording(*, of_command_line: bool) -> Iterator[None]:
    """Have errors and notes name options as the command line does, or as Python does."""
    before, _wording.is_command_line = _wording.is_command_line, of_command_line
    try:
        yield
    finally:
        _wording.is_command_line = before


def worded(text: str) -> str:
    """Return a text for people, which names options as its reader knows them: `--stop-position`, or `stop`."""
    return text if _wording.is_command_line else _wording.in_python(text)


class ApplierError(Exception):
    """Base of all errors that a person can act on.

    `file` is a binlog's name or any path, `position` a byte offset in it, `row` the number from 0 of a row in the event
    there, `gtid` the transaction, `table` "db.table", `key` the search key's value as text, `errno` MySQL's error
    number. Unknown parts are None. Texts are given as for the command line; `worded` converts them when they are read.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        position: int | None = None,
        row: int | None = None,
        gtid: str | None = None,
        table: str | None = None,
        key: str | None = None,
        hint: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.position = position
        self.row = row
        self.gtid = gtid
        self.table = table
        self.key = key
        self.hint = hint
        self.mysql_errno = errno
        self.listed = ()

    @property
    def message(self) -> str:
        """What happened."""
        return worded(self._message)

    @message.setter
    def message(self, text: str) -> None:
        self._message = text

    @property
    def hint(self) -> str | None:
        """What to do next."""
        return None if self._hint is None else worded(self._hint)

    @hint.setter
    def hint(self, text: str | None) -> None:
        self._hint = text

    @property
    def listed(self) -> tuple[str, ...]:
        """What it is about, one by one: each is a line below the error."""
        return tuple(map(worded, self._listed))

    @listed.setter
    def listed(self, lines: tuple[str, ...]) -> None:
        self._listed = lines

    def at(self, **parts: Any) -> "ApplierError":
        """Return the error with additional parts of its location, to be raised again. Known parts are kept."""
        for name, value in parts.items():
            if getattr(self, name) is None:
                setattr(self, name, value)
        return self

    @property
    def where(self) -> dict[str, Any]:
        """Return the known parts of the location, in the order of display."""
        parts = {"file": self.file, "position": self.position, "row": self.row, "gtid": self.gtid, "table": self.table,
                 "key": self.key}
        return {name: value for name, value in parts.items() if value is not None}

    def __str__(self) -> str:
        return "\n  ".join([self.headline, *self.listed])

    @property
    def headline(self) -> str:
        """Return the error without the listed items."""
        text = self.message.rstrip(".")
        if place := self._place():
            text += f" (at {place})" if self.file is not None else f" ({place})"
        if self.mysql_errno is not None:
            text += f" [MySQL error {self.mysql_errno}]"
        return f"{text}. hint: {self.hint}" if self.hint else f"{text}."

    def _place(self) -> str:
        parts = []
        if self.file is not None:
            parts.append(self.file if self.position is None else f"{self.file}:{self.position}")
        elif self.position is not None:
            parts.append(f"position {self.position}")
        row = None if self.row is None else self.row + 1
        parts += [f"{name} {value}" for name, value in
                  (("row", row), ("GTID", self.gtid), ("table", self.table), ("key", self.key)) if value is not None]
        return ", ".join(parts)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._message, self.where | {"hint": self._hint, "errno": self.mysql_errno})


def _rebuild(kind: type[ApplierError], message: str, parts: dict[str, Any]) -> ApplierError:
    return kind(message, **parts)


def reason(error: OSError) -> str:
    """Return the reason of a file's error on one line, without the number and the path that pyarrow and Python add, and
    without the tree of causes that deltalake draws."""
    plain = (FileNotFoundError, PermissionError, NotADirectoryError, IsADirectoryError)
    if isinstance(error, plain) and error.errno:
        return os.strerror(error.errno).lower()
    return ": ".join(line.strip() for line in _DRAWN.sub("", str(error)).splitlines())


class UsageError(ApplierError):
    """The command or its options are invalid or contradictory."""


class NotInstalled(UsageError, ImportError):
    """A package that some work needs is not installed; the hint says how to install it."""


def need(package: str, extra: str) -> None:
    """Raise NotInstalled if a package of an extra cannot be imported. Call it before the modules that import the
    package, so that errors inside these are not mistaken for a missing package."""
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        raise NotInstalled(f"it takes {package}: {error}",
                           hint=f"pip install 'mysql-binlog-applier[{extra}]'") from error


class TelemetryWarning(UserWarning):
    """Metrics or lineage of a run could not be written. The run itself continues."""


class ArchiveError(ApplierError):
    """A binlog is unreadable or corrupt, or the files of an archive are inconsistent."""


class EncryptedBinlog(ArchiveError):
    """The file is encrypted, and its key was not given."""


class MissingFile(ArchiveError):
    """A file is missing in the archive: another file names it, or its number is skipped."""


class UnsupportedEvent(ArchiveError):
    """An event that must not be skipped is of a kind that cannot be applied."""


class SnapshotError(ApplierError):
    """A snapshot is incomplete or unreadable, or conflicts with the output."""


class AnotherRun(SnapshotError):
    """Another run is active there, or was first. This run has published nothing; run it again, and it continues from
    the other run's result. The exit code is EX_TEMPFAIL of sysexits.h."""

    exit_code = 75


class StoreUnavailable(ApplierError):
    """An object store did not answer, or was busy, after several attempts. The exit code is EX_TEMPFAIL of
    sysexits.h."""

    exit_code = 75


class ReplayStopped(ApplierError):
    """The replay stopped as a replica would, because of the data."""

    exit_code = 1


class UndoRefused(ReplayStopped):
    """Others have changed rows since, so nothing is undone; `conflicts` are the first of these rows."""

    conflicts: tuple[Any, ...] = ()


class ServerAnswerError(ApplierError):
    """A server's answer violates the protocol, or does not have the requested shape."""


class ServerDiffers(ApplierError):
    """A server's rows differ from those of a snapshot."""

    exit_code = 1


class UnsupportedStatement(ReplayStopped):
    """A statement that a row applier cannot apply, such as DML in statement format."""


class SchemaError(ApplierError):
    """DDL that cannot be parsed or applied and that affects a replayed table."""

    exit_code = 1


class NotComputable(SchemaError):
    """A value or an expression whose result on a server is unknown to this project."""

    @classmethod
    def because(cls, error: Exception) -> Self:
        """Return this error for a value that a library refused, in one line and in plain words."""
        said = str(error).partition("\n")[0]
        if isinstance(error, UnicodeDecodeError) or said.startswith("Invalid UTF8"):
            return cls("bytes that are not text")
        return cls("characters that the character set does not have" if isinstance(error, UnicodeEncodeError) else said)
