"""`applier doctor`."""

from typing import Any

import typer

from applier.cli.application import verb
from applier.options.verbs import DOCTOR

_PROBLEMS = 2


@verb(DOCTOR)
def doctor(*, json: bool, **arguments: Any) -> None:
    """Check everything that a replay needs, and report what would stop it and what to do.

    Java, kernels, memory, disks and stores; the files of the archive, their heads, checksums and keys; gaps; formats
    and images; definitions; the cost of a replay. The whole log is read, but no row is decoded, so obstacles that only
    the rows show, such as a missing row, are not found.

    Exit code 2 if there is a problem that would stop a replay.

        applier doctor --binlogs /backup --base /lake/monday --output /lake/tuesday
    """
    from applier.api.doctoring import doctor as diagnose
    from applier.cli.output.diagnosed import DIAGNOSIS
    from applier.cli.terminal import progress

    with progress() as watcher:
        found = diagnose(**arguments, progress=watcher)
    DIAGNOSIS.print(json, found)
    if found.problems:
        raise typer.Exit(_PROBLEMS)
