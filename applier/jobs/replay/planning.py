"""Plans a pass from its outlines: the tables of its rows, the effects of foreign keys, and the units of work."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from applier.columns.table_key import table_key
from applier.columns.type_conversions import TypeConversions
from applier.errors import NO_SUCH_TABLE, SchemaError, UsageError
from applier.io.resolver import read_text
from applier.jobs.replay.outlining import Pass
from applier.options import ReplayOptions
from applier.plan.cascades import Cascades, cascades_of
from applier.plan.log import read_history
from applier.plan.planned import PlannedVersion
from applier.plan.span import LogSpan
from applier.plan.units import changed_versions, divide
from applier.plan.used_tables import UsedTable, used_tables
from applier.schema.history.history import SchemaHistory
from applier.schema.history.relevance import Relevance
from applier.schema.table_filter import TableFilter, parse_table_list
from applier.snapshot import AS_DECIMAL
from applier.snapshot.files.partitions import Partition
from applier.snapshot.manifest import Snapshot
from applier.snapshot.staging import Staging


def relevance_to(options: ReplayOptions) -> Relevance:
    """Which statements a replay needs to know of."""
    return Relevance(options.filter.wanted, dict(options.rewrites), options.on_statement == "skip",
                     options.system_time_zone)


def history_of(options: ReplayOptions, part: Pass, before: SchemaHistory | None = None) -> SchemaHistory:
    """Return every version of every table in a pass; `before` is the history of the pass that made its base. Raises the
    errors of `read_history`."""
    schema_sql = read_text(options.schema) if options.schema is not None and before is None else None
    return read_history(part.span, options.filter.wanted, part.base, schema_sql, dict(options.rewrites),
                        skip_statements=options.on_statement == "skip", define_from_log=options.define_from_log,
                        system_time_zone=options.system_time_zone, before=before,
                        lower_case_table_names=options.lower_case_table_names, follows_places=True)


def tables_of(options: ReplayOptions, part: Pass, history: SchemaHistory) -> list[UsedTable]:
    """The tables that rows are of. Raises SchemaError (1146) for one that nothing defines."""
    with _told_of_base(part.base):
        return used_tables(part.span, history, options.filter.wanted)


def cascades_in(options: ReplayOptions, span: LogSpan, history: SchemaHistory, used: list[UsedTable]) -> Cascades:
    """Return the effects of foreign keys in a pass. Raises SchemaError if these are unknown."""
    return cascades_of(history, used, idempotent=options.exec_mode == "idempotent", compressed=span.has_compressed_rows)


def divide_files(options: ReplayOptions, base: Snapshot | None, history: SchemaHistory, staging: Staging, *,
                 is_first: bool) -> Iterator[str]:
    """Divide new files of tables as requested, or as in the base, whatever DDL named the table and the column since.
    Yield a note for each request that cannot be met; in the first replay (`is_first`), raise UsageError instead."""
    given, names = dict(options.partition), set[str]()
    divided = {column.id: table for table in (() if base is None else base.tables) if table.partition is not None
               for column in table.definition.columns}
    for version in history.live():
        shown = version.definition.shown
        before = next((divided[column.id] for column in shown.columns if column.id in divided), None)
        kept = before.partition.onto(before.definition, shown) if before is not None and before.partition else None
        names.add(shown.full_name)
        asked = [Partition.parse(given[shown.full_name])] if shown.full_name in given else []
        chosen: Partition | None = None
        for wanted in [*asked, *([kept] if kept is not None and not staging.merges else [])]:
            if version.may_misplace:
                yield f"{shown.full_name}: --partition {wanted} is not for rows that may lie in wrong partitions of " \
                      "the server's"
                continue
            try:
                chosen = wanted.of(version.definition, options.unsigned_bigint or AS_DECIMAL,
                                   has_key=table_key(shown) is not None)
                break
            except UsageError as error:
                if is_first:
                    raise
                yield f"{shown.full_name}: {error.message}"
        staging.divide(shown.database, shown.name, chosen)
    yield from (f"--partition names {name}, which does not exist" for name in given if name not in names)


def units_of(options: ReplayOptions, base: Snapshot | None, history: SchemaHistory, used: list[UsedTable],
             cascades: Cascades, staging: Staging | None, cores: int, moving: Collection[str] = ()
             ) -> list[PlannedVersion]:
    """The versions that a pass changes, with their units; `staging` and `moving` are as in `divide`."""
    versions = changed_versions(used, history, cascades)
    divide(versions, base, staging, cores, idempotent=options.exec_mode == "idempotent", moving=moving,
           allowed=TypeConversions.of(options.type_conversions), cascades=cascades, witness=options.witness)
    return versions


@contextmanager
def _told_of_base(base: Snapshot | None) -> Iterator[None]:
    """Say of a table that nothing defines that the base was made without it, if it was."""
    try:
        yield
    except SchemaError as error:
        chosen = {} if base is None else base.source.options
        given = {name: chosen.get(name, ()) for name in ("tables", "ignore_tables")}
        filter = TableFilter(*(parse_table_list([*map(str, entries)]) for entries in given.values()))
        if error.mysql_errno != NO_SUCH_TABLE or error.table is None or filter.wanted(*error.table.split(".", 1)):
            raise
        options = " ".join(f"--{name.replace('_', '-')} {','.join(map(str, entries))}"
                           for name, entries in given.items() if entries)
        error.hint = f"the base was made without it: give the same {options} here; or make the base with it"
        raise
