"""How the changes of a log are logged, as far as outlines tell."""

from __future__ import annotations

from collections.abc import Iterable

from applier.columns.from_log import has_definition
from applier.errors import KEY_NOT_FOUND, ReplayStopped
from applier.jobs.doctor.result import Findings
from applier.jobs.explain.job import by_version
from applier.options import DoctorOptions
from applier.plan.span import LogSpan
from applier.plan.used_tables import UsedTable

_NAMED = 5
"""Lines of a kind."""


def look_at_images(findings: Findings, used: list[UsedTable]) -> None:
    """Which columns row images have."""
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
    """Whether rows can be found by what their images have."""
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
    """Whether events are compressed."""
    inflated, rows = (sum(getattr(outline, name) for outline in span.outlines) for name in ("inflated_bytes",
                                                                                           "row_bytes"))
    findings.ok("compression", f"{100 * min(inflated, rows) / rows:.0f} % of {rows:,} bytes of rows events are in "
                "compressed ones" if inflated and rows else "no event is compressed")


def _tables(used: Iterable[UsedTable]) -> set[str]:
    return {use.table_map.name for use in used}
