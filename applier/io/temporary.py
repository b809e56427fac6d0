"""The directory for files that a run needs temporarily."""

import os
import tempfile


def spill_directory() -> str | None:
    """Where payloads are kept in files: Spark's first local directory; None for the system's."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0] or None


def temporary_directory() -> str:
    """The same, by name."""
    return spill_directory() or tempfile.gettempdir()
