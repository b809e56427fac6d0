"""A replica applier for MySQL and MariaDB: binlog archives become exact Parquet snapshots, on Spark or without.

    import applier
    result = applier.replay("backup", "lake/now")
    result.snapshot.tables["shop.orders"].to_pandas()

The public names are in `__all__`; each is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

import jsondiff
from applier import archived
from applier.version import __version__ as __version__

if TYPE_CHECKING:
    from applier.api.archiving import archive
    from applier.api.calls.arguments import Server, Step
    from applier.api.changes import Changes, TableChanges, changes
    from applier.api.comparing import compare
    from applier.api.diffing import Diff, diff
    from applier.api.doctoring import doctor
    from applier.api.dumping import export, import_dump
    from applier.api.following import Batch, follow
    from applier.api.histories import History, history
    from applier.api.lakes import compact, expire, fsck, versions
    from applier.api.logs import explain, locate, summary
    from applier.api.publishing import publish, published
    from applier.api.querying import query
    from applier.api.replaying import Replayed, replay
    from applier.api.rewriting import rewrite
    from applier.api.snapshots import Snapshot, SnapshotTable
    from applier.api.syncing import sync
    from applier.api.undoing import undo
    from applier.api.verifying import verify, verify_sql
    from applier.binlog.events.gtid import GtidSet
    from applier.errors import (
        AnotherRun,
        ApplierError,
        ArchiveError,
        EncryptedBinlog,
        MissingFile,
        NotInstalled,
        ReplayStopped,
        SchemaError,
        ServerAnswerError,
        ServerDiffers,
        SnapshotError,
        StoreUnavailable,
        TelemetryWarning,
        UndoRefused,
        UnsupportedEvent,
        UnsupportedStatement,
        UsageError,
    )
    from applier.io.encryption.keys import Keys
    from applier.io.ending import Ending
    from applier.jobs.archive.result import Archived
    from applier.jobs.compare import Comparison, Standing
    from applier.jobs.diff.result import TableDiff
    from applier.jobs.doctor.result import Check, Diagnosis
    from applier.jobs.lake.checking import CheckedLake
    from applier.jobs.lake.compacting import Compacted
    from applier.jobs.lake.expiring import Expired
    from applier.jobs.lake.versions import LakeVersion
    from applier.jobs.publish.result import Published, PublishedAsOf, PublishedTable, TableAsOf
    from applier.jobs.replay.result import ReplayResult
    from applier.jobs.rewrite.result import Proof, Rewritten, RewrittenFile
    from applier.jobs.summary.result import Summary
    from applier.jobs.sync.round import Round
    from applier.jobs.undo.conflict.conflicts import Conflict
    from applier.jobs.undo.result import Undone, UndoneTable
    from applier.jobs.verify.result import DifferentRange, DifferentRow, DifferentTable, ServerComparison
    from applier.snapshot.manifest import BinlogPosition


_HOMES = {
    "applier.api.archiving": ("archive",),
    "applier.api.calls.arguments": ("Server", "Step"),
    "applier.api.changes": ("Changes", "TableChanges", "changes"),
    "applier.api.comparing": ("compare",),
    "applier.api.diffing": ("Diff", "diff"),
    "applier.api.doctoring": ("doctor",),
    "applier.api.dumping": ("export", "import_dump"),
    "applier.api.following": ("Batch", "follow"),
    "applier.api.histories": ("History", "history"),
    "applier.api.lakes": ("compact", "expire", "fsck", "versions"),
    "applier.api.logs": ("explain", "locate", "summary"),
    "applier.api.publishing": ("publish", "published"),
    "applier.api.querying": ("query",),
    "applier.api.replaying": ("Replayed", "replay"),
    "applier.api.rewriting": ("rewrite",),
    "applier.api.snapshots": ("Snapshot", "SnapshotTable"),
    "applier.api.syncing": ("sync",),
    "applier.api.undoing": ("undo",),
    "applier.api.verifying": ("verify", "verify_sql"),
    "applier.binlog.events.gtid": ("GtidSet",),
    "applier.errors": ("AnotherRun", "ApplierError", "ArchiveError", "EncryptedBinlog", "MissingFile", "NotInstalled",
                       "ReplayStopped", "SchemaError", "ServerAnswerError", "ServerDiffers", "SnapshotError",
                       "StoreUnavailable", "TelemetryWarning", "UndoRefused", "UnsupportedEvent",
                       "UnsupportedStatement", "UsageError"),
    "applier.jobs.archive.result": ("Archived",),
    "applier.jobs.compare": ("Comparison", "Standing"),
    "applier.jobs.diff.result": ("TableDiff",),
    "applier.jobs.doctor.result": ("Check", "Diagnosis"),
    "applier.jobs.lake.checking": ("CheckedLake",),
    "applier.jobs.lake.compacting": ("Compacted",),
    "applier.jobs.lake.expiring": ("Expired",),
    "applier.jobs.lake.versions": ("LakeVersion",),
    "applier.jobs.publish.result": ("Published", "PublishedAsOf", "PublishedTable", "TableAsOf"),
    "applier.jobs.replay.result": ("ReplayResult",),
    "applier.jobs.rewrite.result": ("Proof", "Rewritten", "RewrittenFile"),
    "applier.jobs.summary.result": ("Summary",),
    "applier.io.ending": ("Ending",),
    "applier.jobs.sync.round": ("Round",),
    "applier.jobs.undo.conflict.conflicts": ("Conflict",),
    "applier.jobs.undo.result": ("Undone", "UndoneTable"),
    "applier.jobs.verify.result": ("DifferentRange", "DifferentRow", "DifferentTable", "ServerComparison"),
    "applier.io.encryption.keys": ("Keys",),
    "applier.snapshot.manifest": ("BinlogPosition",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AnotherRun", "ApplierError", "ArchiveError", "Archived", "Batch", "BinlogPosition", "Changes", "Check",
    "CheckedLake", "Compacted", "Comparison", "Conflict", "Diagnosis", "Diff", "DifferentRange", "DifferentRow",
    "DifferentTable", "EncryptedBinlog", "Ending", "Expired", "GtidSet", "History", "Keys", "LakeVersion",
    "MissingFile", "NotInstalled", "Proof", "Published", "PublishedAsOf", "PublishedTable", "ReplayResult",
    "ReplayStopped", "Replayed", "Rewritten", "RewrittenFile", "Round", "SchemaError", "Server",
    "ServerAnswerError", "ServerComparison", "ServerDiffers", "Snapshot", "SnapshotError", "SnapshotTable",
    "Standing", "Step", "StoreUnavailable", "Summary", "TableAsOf", "TableChanges", "TableDiff", "TelemetryWarning",
    "UndoRefused", "Undone", "UndoneTable", "UnsupportedEvent", "UnsupportedStatement", "UsageError", "archive",
    "changes", "compact",
    "compare", "diff", "doctor", "expire", "explain", "export", "follow", "fsck", "history", "import_dump",
    "locate", "publish", "published", "query", "replay", "rewrite", "summary", "sync", "undo", "verify",
    "verify_sql", "versions",
]

archived.leave(__spec__.loader)

if "apply_diffs" not in getattr(jsondiff, "__all__", ()):
    raise ImportError(
        f"the jsondiff found at {jsondiff.__file__} is another package, and hides the one that comes with applier; "
        "hint: pip uninstall jsondiff, reinstall mysql-binlog-applier, or keep the other one in another environment",
        name="jsondiff", path=jsondiff.__file__)


def __getattr__(name: str) -> object:
    """Return a public name, loaded from its module."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'applier' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
