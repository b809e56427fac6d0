"""The error for a full disk: which file, and what to do."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from applier.errors import ApplierError

_HINT = ("free space where the output is, and where Spark and Python keep temporary files: /tmp, or what "
         "SPARK_LOCAL_DIRS and TMPDIR name")
_FILE = re.compile(r"file '([^']+)'")
"""How Arrow names a file in an error, whose `filename` it leaves empty."""


def explanation(text: str) -> tuple[str, str] | None:
    """The message and the hint for an error of a file system with this text; None where it is about something else."""
    for full in ("No space left on device", "Disk quota exceeded"):
        if full in text:
            return f"cannot write: {full}", _HINT
    return None


@contextmanager
def explained(path: str | None = None) -> Iterator[None]:
    """Turn an OSError for a full disk into an ApplierError that names the file, or else this path."""
    try:
        yield
    except OSError as error:
        if full := explanation(str(error)):
            named = _FILE.search(str(error))
            raise ApplierError(full[0], file=error.filename or (named[1] if named else path), hint=full[1]) from error
        raise
