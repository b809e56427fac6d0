"""`doctor`: what would stop a replay, before it begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from applier.api.arguments import (
    PathLike,
    Paths,
    Place,
    Size,
    Tables,
    Time,
    Watcher,
    chosen_gtids,
    database_names,
    logs,
    path,
    places,
    position,
    size,
    spark_conf,
    stop_at,
    table_filter,
    watcher,
)
from applier.api.checked import checked
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.jobs.doctor.result import Diagnosis
from applier.option_texts import parse_conversions
from applier.options import DoctorOptions


@checked
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
    engine: Literal["local", "auto", "spark"] = "local",
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    keyring: Paths | None = None,
    key_file: Paths | None = None,
    key_file_secret: PathLike | None = None,
    progress: Watcher | None = None,
) -> Diagnosis:
    """Look at all that a replay needs, on this machine and in its input, and say what would stop it.

    >>> found = applier.doctor("backup", "lake/next")
    >>> found.problems
    ()
    >>> [check.found for check in found.checks if check.name == "files"]
    ['3, 2,274,765 bytes: from binlog.000001 to binlog.000003, with no number missing']
    >>> later = applier.doctor("backup/binlog.000003")
    >>> [(check.name, check.state) for check in later.problems]
    [('definitions', 'problem')]

    binlogs: the archive, of which all is read, and no row is decoded; without it only the machine is looked at.
    output: where the snapshot is to be; something is written there, and removed.
    base, schema, start, reapply, stop, snapshot_at, tables, ignore_tables, rewrite_db, exclude_gtids, server_ids,
    ignore_server_ids, exec_mode, type_conversions, on_statement, define_from_log, system_time_zone,
    lower_case_table_names, unsigned_bigint,
    pass_bytes, route, engine, master, conf, keyring, key_file, key_file_secret: as of `replay`.
    progress: called with each Step.

    What would stop a replay before its first row is a problem here. What only the rows show, as a row that is not
    there, is not.

    Raises UsageError for arguments that make no sense.
    """
    from applier.jobs.doctor.job import diagnose

    end = stop_at(stop)
    return diagnose(DoctorOptions(
        binlogs=logs(binlogs, keyring, key_file, key_file_secret),
        output="" if output is None else path(output),
        base=base.uri if isinstance(base, Snapshot) else None if base is None else path(base),
        schema=None if schema is None else path(schema),
        start_position=None if start is None else position(start),
        reapply=reapply,
        stop_position=end.position,
        stop_gtid=end.gtid,
        stop_datetime=end.time,
        snapshot_at=places(snapshot_at),
        filter=table_filter(tables, ignore_tables),
        rewrites=database_names(rewrite_db),
        exclude_gtids=chosen_gtids(exclude_gtids),
        server_ids=tuple(server_ids),
        ignore_server_ids=tuple(ignore_server_ids),
        exec_mode=exec_mode,
        type_conversions=parse_conversions(list(type_conversions)),
        on_statement=on_statement,
        define_from_log=define_from_log,
        system_time_zone=system_time_zone,
        lower_case_table_names=lower_case_table_names,
        unsigned_bigint=unsigned_bigint,
        pass_bytes=None if pass_bytes is None else size(pass_bytes),
        route=route,
        engine="spark" if master is not None and engine == "local" else engine,
        master=master,
        conf=spark_conf(conf),
    ), watcher(progress))
