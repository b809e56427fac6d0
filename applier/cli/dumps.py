"""`applier import` and `export`: turn dumps into snapshots, and snapshots into files that a server can load."""

from typing import Any

from applier.cli.application import verb
from applier.options.verbs import EXPORT, IMPORT


@verb(IMPORT)
def import_(**arguments: Any) -> None:
    """Make a snapshot from a logical dump, as a base for `replay --base`.

    Its position is the dump's (from --source-data, --master-data, or its GTIDs), or, if the dump has none, before
    the first binlog that is replayed on it.

        mysqldump --single-transaction --source-data=2 --all-databases > d.sql
        applier import d.sql --output /lake/base
        applier replay --base /lake/base --binlogs /backup --output /lake/now
    """
    from applier.api.dumping import import_dump
    from applier.cli.output.status import IMPORTED
    from applier.cli.terminal import progress

    with progress() as watcher:
        imported = import_dump(**arguments, progress=watcher)
    IMPORTED.show(imported.report)


@verb(EXPORT)
def export(*, snapshot: str, output: str, as_of: str | None, no_data: bool, data_only: bool, **arguments: Any) -> None:
    """Write a snapshot as files that a server of its kind can load, including definitions.

        applier export /lake/before --output /restore
        applier export /lake/shop --as-of '2026-03-14 10:30:00' --output /then
        sh /restore/_load.sh -h HOST -u USER -p

    Every file sets the session variables that it needs, so after the definitions (_schema.sql) the others may be
    loaded in parallel.
    """
    from applier.api.dumping import export as write
    from applier.api.snapshots import Snapshot
    from applier.cli.output.written import EXPORTED
    from applier.cli.terminal import progress

    with progress() as watcher:
        files = write(snapshot if as_of is None else Snapshot(snapshot, as_of), output, definitions=not data_only,
                      rows=not no_data, **arguments, progress=watcher)
    EXPORTED.show(output, files)
