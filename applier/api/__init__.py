"""The public Python API of the package `applier`: the verbs of the command line as functions, and snapshots."""

__all__ = [
    "archiving", "building", "calls", "changes", "comparing", "diffing", "doctoring", "dumping", "following",
    "histories", "lakes", "logs", "publishing", "querying", "replaying", "rewriting", "snapshots", "streams",
    "syncing", "undoing", "verifying",
]

from applier.api import wording  # noqa: F401  # for every error that comes out of a function
