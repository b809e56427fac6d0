"""System versioning in CREATE and ALTER TABLE: which columns have a row's times, and how an ALTER changes that.

Source: MariaDB's "System-Versioned Tables"; judged by MariaDB 10.11.
"""

from collections.abc import Sequence

from applier.errors import SchemaError
from applier.mysql.names import folded
from applier.schema.ddl.alter_actions import AddColumn, AlterAction, DropColumn, SetVersioning
from applier.schema.ddl.column_grammar import ColumnWords
from applier.schema.ddl.cursor import Cursor
from applier.schema.definition import TableDefinition
from applier.schema.table_parts import Column
from applier.schema.versioning import TIME, Versioning


def parse_period(cursor: Cursor) -> None:
    """Skip PERIOD FOR SYSTEM_TIME [(start, end)]: the columns say the same themselves."""
    cursor.expect("PERIOD", "FOR")
    if not cursor.accept("SYSTEM_TIME"):
        raise cursor.error("application-time period tables cannot be replayed yet")
    if cursor.ahead("("):
        cursor.parenthesised()


def created_versioning(columns: Sequence[ColumnWords], *, all_are: bool) -> Versioning | None:
    """Return the versioning of a table with these columns, if `all_are` versioned; None without versioning."""
    if not all_are and not any(words.versioned for words in columns):
        return None
    without = tuple(folded(words.name) for words in columns
                    if words.versioned is False or (words.versioned is None and not all_are and not words.row_time))
    return _with_times(columns, without)


def _with_times(columns: Sequence[ColumnWords], without: tuple[str, ...]) -> Versioning:
    times = {words.row_time: words.name for words in columns if words.row_time}
    if not times:
        return Versioning(without=without)
    if len(times) < 2:
        raise SchemaError("a row's start and its end are not both among the columns")
    return Versioning(times["START"], times["END"], False, without)


def hidden_columns(versioning: Versioning | None) -> tuple[Column, ...]:
    """Return the hidden columns, which come after all others."""
    if versioning is None or not versioning.hidden:
        return ()
    return tuple(Column(name, TIME, nullable=False, invisible=True)
                 for name in (versioning.row_start, versioning.row_end))


def altered_versioning(before: Versioning | None, actions: Sequence[AlterAction],
                       renames: dict[str, str]) -> Versioning | None:
    """Return the versioning after an ALTER, with new names of columns by their old ones in lower case."""
    added = [action.words for action in actions if isinstance(action, AddColumn)]
    without = tuple(folded(words.name) for words in added if words.versioned is False)
    switch = next((action.on for action in actions if isinstance(action, SetVersioning)), None)
    if switch is False:
        return None
    if before is None:
        return _with_times(added, without) if switch else None
    kept = before if before.hidden else before.with_names(renames)
    without = (*kept.without, *without)
    if before.hidden and any(words.row_time for words in added):
        return _with_times(added, without)
    if drops_times(before, actions):
        return Versioning(without=without)
    return Versioning(kept.row_start, kept.row_end, kept.hidden, without)


def drops_times(versioning: Versioning, actions: Sequence[AlterAction]) -> bool:
    """Return whether actions drop the columns of the two times, which become hidden ones."""
    dropped = {folded(action.name) for action in actions if isinstance(action, DropColumn)}
    return not versioning.hidden and dropped.issuperset((folded(versioning.row_start),
                                                         folded(versioning.row_end)))


def with_row_times(columns: list[tuple[Column, int | None]], definition: TableDefinition,
                   versioning: Versioning | None) -> list[tuple[Column, int | None]]:
    """Return the columns after an ALTER with their sources, given those that its words make. Where versioning begins,
    the hidden columns come last. Columns that become hidden, or hidden ones that get names, stay where they are, and
    rows keep their times (seen on MariaDB 10.11 and 11.8)."""
    before = definition.versioning
    if versioning is None or (before is not None and before.hidden == versioning.hidden):
        return columns
    if before is None:
        return [*columns, *((column, None) for column in hidden_columns(versioning))]
    times = [definition.column_index(name) for name in (before.row_start, before.row_end)]
    added = [*hidden_columns(versioning), *(column for column, source in columns if source is None)]
    named = [next(column for column in added if folded(column.name) == folded(name))
             for name in (versioning.row_start, versioning.row_end)]
    made = dict(zip(times, named, strict=True))
    return [(column if source is None else made.get(source, column), source) for column, source in columns
            if source in times or not any(column is other for other in named)]
