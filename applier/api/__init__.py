"""The public Python API of the package `applier`: the verbs of the command line as functions, and snapshots."""

__all__ = ["archiving", "arguments", "building", "changes", "checked", "comparing", "diffing", "doctoring", "dumping",
           "following", "histories", "job_options", "lakes", "logs", "public", "publishing", "querying", "replaying",
           "rewriting", "snapshots", "streams", "syncing", "undoing", "verifying"]

from applier.api import wording  # noqa: F401  # for every error that comes out of a function
