"""The directory for files that a run needs temporarily."""

import os
import tempfile


def spill_directory() -> str | None:
    """Where payloads are kept in files: Spark's first local directory, or YARN's in a container of it, where a driver
    knows no other; None for the system's."""
    of_yarn = os.environ.get("LOCAL_DIRS", "") if "CONTAINER_ID" in os.environ else ""
    return (os.environ.get("SPARK_LOCAL_DIRS") or of_yarn).split(",")[0] or None


def temporary_directory() -> str:
    """The same, by name."""
    return spill_directory() or tempfile.gettempdir()
