"""`doctor`: find out in advance what would stop a replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Paths, Place, Size, Tables, Time, Watcher, watcher
from applier.api.calls.job_options import options_of
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.io.encryption.keys import Keys
from applier.jobs.doctor.result import Diagnosis
from applier.options import DoctorOptions
from applier.options.verbs import DOCTOR


@public(DOCTOR)
def doctor(
    binlogs: Paths = (),
    output: PathLike | None = None,
    *,
    base: PathLike | Snapshot | None = None,
    schema: PathLike | None = None,
    start: Place | None = None,
    reapply: bool = False,
    stop: Place | Time | None = None,
    snapshot_at: Place | Iterable[Place] = (),
    tables: Tables | None = None,
    ignore_tables: Tables | None = None,
    rewrite_db: Mapping[str, str] | None = None,
    exclude_gtids: str | GtidSet | None = None,
    server_ids: Iterable[int] = (),
    ignore_server_ids: Iterable[int] = (),
    exec_mode: Literal["strict", "idempotent"] = "strict",
    type_conversions: Iterable[str] = (),
    on_statement: Literal["error", "skip"] = "error",
    define_from_log: bool = False,
    system_time_zone: str | None = None,
    lower_case_table_names: int | None = None,
    unsigned_bigint: Literal["decimal", "long", "uint64"] | None = None,
    pass_bytes: Size | None = None,
    route: Literal["auto", "walk", "shuffle"] = "auto",
    engine: Literal["auto", "local", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    shared_dir: PathLike | None = None,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Diagnosis:
    """Check everything that a replay needs, on this machine and in its input, and report what would stop it.

    >>> found = applier.doctor("backup", "lake/next")
    >>> found.problems
    ()
    >>> [check.found for check in found.checks if check.name == "files"]
    ['3, 2,274,765 bytes: from binlog.000001 to binlog.000003, with no number missing']
    >>> later = applier.doctor("backup/binlog.000003")
    >>> [(check.name, check.state) for check in later.problems]
    [('definitions', 'problem')]

    {arguments}

    An obstacle before the first row is a problem here. Obstacles that only the rows show, such as a missing row, are
    not found.

    Raises UsageError for invalid arguments.
    """
    from applier.jobs.doctor.job import diagnose

    return diagnose(options_of(DoctorOptions, DOCTOR, locals()), watcher(progress))
