"""The job: run all steps of a replay before its first row, and check its requirements on the machine.

Each step is the replay's own, and an error that would stop it becomes a line here. So a doctor finds exactly the
problems that stop a replay before its first row. The whole log is read, as a replay does first, but no row is
decoded: 440 MB take 0.1 s of CPU. Steps that depend on a failed one are skipped.

The outlines also show in which format changes are logged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from applier.columns.from_log import has_definition
from applier.engine.choice import Choice, choose
from applier.errors import KEY_NOT_FOUND, ReplayStopped, SnapshotError
from applier.io.progress import Progress, Silent
from applier.jobs.doctor.log import Heads, look_at_files, look_at_log, look_at_positions
from applier.jobs.doctor.machine import (
    look_at_kernels,
    look_at_output,
    look_at_room,
    look_at_spark,
    look_at_stores,
)
from applier.jobs.doctor.plan import Cost, look_at_columns, look_at_cost, look_at_definitions, look_at_history
from applier.jobs.doctor.result import Diagnosis, Findings
from applier.jobs.explain.job import by_version
from applier.jobs.report.loading import load_report
from applier.options import DoctorOptions
from applier.plan.span import LogSpan
from applier.plan.used_tables import UsedTable
from applier.snapshot import manifest
from applier.snapshot.files.checks import check_listed
from applier.snapshot.files.shards import columns_of
from applier.snapshot.files.unsigned_bigints import choice_onto
from applier.snapshot.manifest import Snapshot

_NAMED = 5
"""Lines of a kind."""


def look_at_images(findings: Findings, used: list[UsedTable]) -> None:
    """Report which columns row images have."""
    if not used:
        findings.note("images", "the log changes no rows of tables that are known here")
        return
    partial = _tables(use for use in used if use.use.has_partial_images)
    diffs = _tables(use for use in used if use.use.has_diffs)
    total = _tables(used)
    found = "full: all columns in all images" if not partial else \
        f"partial (minimal or noblob) in {len(partial):,} of {len(total):,} tables"
    if diffs:
        found += f"; partial JSON may be in {len(diffs):,}"
    findings.ok("images", found)
    described = _tables(use for use in used if has_definition(use.table_map))
    if len(described) == len(total):
        findings.ok("metadata", "full: the log has names of columns and primary keys")
    else:
        findings.ok("metadata", f"minimal in {len(total - described):,} of {len(total):,} tables: names of columns "
                    "are those of the definitions")


def look_at_searches(findings: Findings, options: DoctorOptions, span: LogSpan, used: list[UsedTable]) -> None:
    """Return whether rows can be found by the columns of their images."""
    unsure = list[str]()
    for table in by_version(span, used):
        for search in table.searches:
            if search.choice.cost == "none" and search.images.samples and options.exec_mode == "strict":
                findings.problem("keys", ReplayStopped(
                    f"no column of the table is in a row's before-image: {search.choice.reason}",
                    table=table.definition.full_name, errno=KEY_NOT_FOUND,
                    hint="give the table as the source has it, or leave it out with --ignore-tables"))
                return
        warnings = (*table.warnings, *(warning for search in table.searches for warning in search.warnings))
        unsure += [f"{table.definition.full_name}: {warning}" for warning in dict.fromkeys(warnings)]
    for line in unsure[:_NAMED]:
        findings.note("keys", line)
    if len(unsure) > _NAMED:
        findings.note("keys", f"and {len(unsure) - _NAMED:,} more", "`applier explain` lists all")
    if not unsure and used:
        findings.ok("keys", "of every table tell one row from another")


def look_at_compression(findings: Findings, span: LogSpan) -> None:
    """Return whether events are compressed."""
    inflated, rows = (sum(getattr(outline, name) for outline in span.outlines) for name in ("inflated_bytes",
                                                                                           "row_bytes"))
    findings.ok("compression", f"{100 * min(inflated, rows) / rows:.0f} % of {rows:,} bytes of rows events are in "
                "compressed ones" if inflated and rows else "no event is compressed")


def _tables(used: Iterable[UsedTable]) -> set[str]:
    return {use.table_map.name for use in used}


def diagnose(options: DoctorOptions, progress: Progress | None = None) -> Diagnosis:
    """Look at everything that a replay would need. Nothing is written; errors are part of the diagnosis."""
    progress = progress or Silent()
    machine, log = Findings(), Findings()
    look_at_kernels(machine)
    can_list = look_at_stores(machine, options)
    cost = _look_at_log(log, options, progress) if can_list else None
    chosen = cost.chosen if cost is not None else choose(options) if options.binlogs else Choice(options.engine)
    look_at_spark(machine, chosen, options.master, options.shared_dir)
    look_at_room(machine, cost)
    if can_list:
        look_at_output(machine, options, cost)
    return Diagnosis((*machine.checks, *log.checks))


def _look_at_log(findings: Findings, options: DoctorOptions, progress: Progress) -> Cost | None:
    """Look at the base and the archive; return the cost of a replay, if it would begin."""
    base = _look_at_base(findings, options)
    if not options.binlogs:
        return None
    archive = look_at_files(findings, options)
    if archive is None:
        return None
    heads, of_log = Heads(archive, progress), Findings()
    can_go_on = options.base is None or base is not None
    if can_go_on and options.snapshot_at:
        to_last = look_at_positions(of_log, options, archive, base, progress)
        options, can_go_on = to_last or options, to_last is not None
    part = look_at_log(of_log, options, archive, base, heads, progress) if can_go_on else None
    heads.report(findings, are_read=part is None)
    findings.checks += of_log.checks
    history = look_at_history(findings, options, part) if part is not None else None
    if part is not None and history is None and options.on_statement == "error":
        options, skipping = replace(options, on_statement="skip"), Findings()
        part = look_at_log(skipping, options, archive, base, heads, progress)
        history = look_at_history(skipping, options, part) if part is not None else None
        findings.checks += [check for check in skipping.checks if check.name == "formats"]
    if part is None or history is None:
        return None
    used = look_at_definitions(findings, options, part, history)
    versions = look_at_columns(findings, options, part, history, used)
    look_at_images(findings, used)
    look_at_searches(findings, options, part.span, used)
    look_at_compression(findings, part.span)
    return look_at_cost(findings, options, part, versions)


def _look_at_base(findings: Findings, options: DoctorOptions) -> Snapshot | None:
    """Return the base, if it is a snapshot whose files exist."""
    if options.base is None:
        return None
    base_uri = options.base

    def load() -> Snapshot:
        base = manifest.load(base_uri)
        check_listed(base.root, [columns_of(files) for table in base.tables
                                if options.filter.wanted(table.database, table.name) for files in table.lists])
        choice_onto(base.source.options, options.unsigned_bigint)
        return base

    base = findings.attempt("base", load)
    if base is not None:
        findings.ok("base", f"{len(base.tables):,} tables at {base.position}; its files are there")
        _look_at_witness(findings, base_uri)
    return base


def _look_at_witness(findings: Findings, base: str) -> None:
    """Note the differences between the base's rows and before-images that were found when the base was made."""
    try:
        witness = load_report(base).result.witness
    except SnapshotError:  # of a dump, or of a version before the witness
        return
    for difference in witness.differences:
        findings.note("witness", str(difference), "look at the base's own base, its definitions and this table's DDL")
    if not witness.is_empty and not witness.differences:
        findings.ok("witness", f"{witness} with the base's rows")
