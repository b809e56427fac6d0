"""From binlogs to the searches of their tables: outlines and schema history, as a replay begins."""

from __future__ import annotations

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor

from applier.binlog.archive.archive import open_archive
from applier.binlog.archive.continuity import check_continuity
from applier.binlog.outline.outline import Outline
from applier.binlog.outline.outline_pass import outline_file
from applier.io.progress import Progress, Silent
from applier.io.resolver import read_text
from applier.jobs.explain.definitions import TableHistory, definition_history
from applier.jobs.explain.layouts import before_images
from applier.jobs.explain.searches import TableExplained, explain_table
from applier.options import ExplainOptions
from applier.plan.log import check_base, files_after, known_start, read_history
from applier.plan.span import LogSpan, span_of
from applier.plan.used_tables import UsedTable, used_tables
from applier.schema.history.table_versions import BEFORE_THE_LOG, TableVersion
from applier.snapshot import manifest


@dataclasses.dataclass(frozen=True)
class Explained:
    """tables: those that the log changes rows of, version by version, by name and then in the log's order.
    definitions: where the definitions come from, for tables that the log defines, by name."""

    tables: list[TableExplained]
    definitions: list[TableHistory]


def explain(options: ExplainOptions, progress: Progress | None = None) -> Explained:
    """Report how a replay of these binlogs would find rows, and where its definitions would come from.

    Raises the errors that a replay would raise before it applies anything: ApplierError.
    """
    progress = progress or Silent()
    base = manifest.load(options.base) if options.base is not None else None
    archive = open_archive(list(options.binlogs))
    files, start = files_after(archive, base.position) if base is not None else (archive.files, None)
    progress.phase("outline", len(files), "files")
    outlines: list[Outline] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(outline_file, file.uri, start=start, known=known_start(base)) if number == 0 else
                 pool.submit(outline_file, file.uri) for number, file in enumerate(files)]
        for task in tasks:
            outlines.append(task.result())
            progress.update(len(outlines))
    check_continuity(outlines)
    if base is not None:
        check_base(base, outlines[0])
    span = span_of(outlines)
    wanted = options.filter.wanted
    schema_sql = read_text(options.schema) if options.schema is not None else None
    history = read_history(span, wanted, base, schema_sql, define_from_log=options.define_from_log)
    return Explained(by_version(span, used_tables(span, history, wanted)),
                     definition_history(history, lambda number: span.outlines[number].name))


def by_version(span: LogSpan, used: list[UsedTable]) -> list[TableExplained]:
    """Return how rows of each version of a table are found, by name and then in the log's order."""
    uses: dict[int, list[UsedTable]] = {}
    versions: dict[int, TableVersion] = {}
    for table in used:
        for version in table.versions:
            versions[version.id] = version
            uses.setdefault(version.id, []).append(table)
    explained = []
    for number in sorted(versions):
        version, tables = versions[number], uses[number]
        explained.append(explain_table(
            version.definition, _position(span, version), sum(table.use.n_events for table in tables),
            sum(table.use.n_bytes for table in tables),
            before_images(tables)))
    return sorted(explained, key=lambda table: table.definition.full_name)


def _position(span: LogSpan, version: TableVersion) -> str:
    if version.start == BEFORE_THE_LOG:
        return ""
    return f"{span.outlines[version.start[0]].name}:{version.start[1]}"
