"""The requirements of a cluster's Python workers: the driver's version of this package, and of packages whose data both
exchange; and the error if they are not met."""

import re
from importlib.metadata import PackageNotFoundError, version

from applier.errors import ApplierError, UsageError
from applier.version import __version__

Versions = tuple[tuple[str, str], ...]
"""Names of packages, with versions."""
_MAJOR = ("numpy", "pyarrow")
"""Packages whose major versions must be the same: others read one another's data."""
_HINT = "install the same version on every node, or send it: docs/cookbook/clusters.md says how"
_COMPLAINTS = (
    (r"PYTHON_VERSION_MISMATCH|Python in worker has different version",
     "Spark's workers run another version of Python than the driver",
     "set PYSPARK_PYTHON, or --conf spark.pyspark.python=PATH, to a Python of the driver's version on every node"),
    (r"No module named '?(?:applier|keysearch|jsondiff)\b", "applier is not installed on Spark's workers", _HINT),
    (r"(?:Can't get attribute|cannot import name) .*\b(?:applier|keysearch|jsondiff)\b",
     "Spark's workers have another version of applier", _HINT),
    (r"No module named '?([\w.]+)", "a package is missing on Spark's workers: {0}", _HINT))


def versions() -> Versions:
    """Return the versions that workers need to have."""
    found = [("applier", __version__)]
    for name in _MAJOR:
        try:
            found.append((name, version(name).partition(".")[0]))
        except PackageNotFoundError:  # a source tree on the path, as in some images
            continue
    return tuple(found)


def check(needed: Versions) -> None:
    """Raise UsageError in a worker that has other versions than the driver."""
    here = dict(versions())
    for name, of_driver in needed:
        if (of_worker := here.get(name, of_driver)) != of_driver:
            raise UsageError(f"Spark's workers have {name} {of_worker}, and the driver has {of_driver}", hint=_HINT)


def explanation(text: str) -> ApplierError | None:
    """Return the error for a job that failed because workers miss a requirement; None if it failed for another
    reason."""
    for pattern, message, hint in _COMPLAINTS:
        if found := re.search(pattern, text):
            return UsageError(message.format(*found.groups()), hint=hint)
    return None
