"""PARTITION BY, and ALTER TABLE's actions on partitions.

Source: MySQL manual, "CREATE TABLE Statement" (partition_options) and "ALTER TABLE Partition Operations"; MariaDB's.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable

from applier.errors import SchemaError
from applier.mysql.values.temporal_literals import read_datetime
from applier.schema.ddl.alter_actions import (
    AddPartitions,
    AlterAction,
    CoalescePartitions,
    DropPartitions,
    EmptyTable,
    ExchangePartition,
    PartitionBy,
    PartitionFromTable,
    PartitionToTable,
    ReorganizePartitions,
    RewritePartitions,
    SetOptions,
    TruncatePartitions,
)
from applier.schema.ddl.cursor import Cursor
from applier.schema.partitions import (
    BY_VALUES,
    CURRENT,
    DEFAULT,
    HISTORY,
    MAXVALUE,
    PARTITION_OPTIONS,
    SYSTEM_TIME,
    Options,
    Partition,
    Partitioning,
    PartitionsRefused,
    checked_number,
)
from applier.sql.literal_charsets import as_written
from applier.sql.tokens import Token, render

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 7 * 86400}
_AFTER_CREATE = ("SELECT", "AS", "START", "IGNORE", "REPLACE")


def parse_partitioning(cursor: Cursor) -> Partitioning:
    """Parse the words after PARTITION BY. Unknown words are kept unchanged. Raises PartitionsRefused."""
    start = cursor.index
    try:
        return _partitioning(cursor)
    except PartitionsRefused:
        raise
    except SchemaError:
        cursor.index = start
        while not cursor.at_end and not cursor.ahead(",") and cursor.keyword not in _AFTER_CREATE:
            cursor.parenthesised() if cursor.ahead("(") else cursor.next()
        return Partitioning("", other=render(cursor.tokens[start:cursor.index]))


def _count(cursor: Cursor) -> int:
    """The number of partitions that a statement asks for. Both servers use the number's lower 32 bits."""
    return checked_number(cursor.number() & 0xFFFFFFFF)


def _partitioning(cursor: Cursor) -> Partitioning:
    if cursor.accept(SYSTEM_TIME):
        return _by_system_time(cursor)
    method, expression, columns, old_hash = _method(cursor)
    count = _count(cursor) if cursor.accept("PARTITIONS") else None
    subpartition_by, each = "", 1
    if cursor.accept("SUBPARTITION", "BY"):
        first = cursor.index
        _method(cursor)
        if cursor.accept("SUBPARTITIONS"):
            each = _count(cursor)
        subpartition_by = render(cursor.tokens[first:cursor.index])
    if cursor.ahead("("):
        partitions = parse_partitions(cursor)
    elif method in BY_VALUES:
        raise cursor.error("partitions were expected")
    else:
        partitions = tuple(Partition(f"p{number}") for number in range(count or 1))
    checked_number(sum(max(each, len(partition.subpartitions)) for partition in partitions))
    return Partitioning(method, expression, columns, partitions, subpartition_by, old_hash)


def _by_system_time(cursor: Cursor) -> Partitioning:
    """MariaDB: partitions of past rows and of current ones. Without a start, an INTERVAL begins at the statement's
    time, rounded down to its unit, or to days."""
    words, start, step = "", None, None
    if cursor.accept("LIMIT"):
        words = f"LIMIT {cursor.number()}"
    elif cursor.accept("INTERVAL"):
        first = cursor.index
        count, unit = cursor.next(), cursor.next().keyword
        words = f"INTERVAL {render(cursor.tokens[first:cursor.index])}"
        if unit in _SECONDS and count.text.isdigit():
            step = int(count.text) * _SECONDS[unit]
            start = cursor.context.begun(min(_SECONDS[unit], 86400))
        if cursor.accept("STARTS"):
            cursor.accept("TIMESTAMP")
            start = _seconds(cursor, cursor.string())
    if cursor.ahead("AUTO"):
        raise cursor.error("partitions that the server adds by itself are not followed")
    if cursor.ahead("("):
        return Partitioning(SYSTEM_TIME, words, (), parse_partitions(cursor), start=start, step=step)
    past = (_count(cursor) if cursor.accept("PARTITIONS") else 2) - 1
    partitions = (*(Partition(f"p{number}", ((HISTORY,),)) for number in range(past)), Partition("pn", ((CURRENT,),)))
    return Partitioning(SYSTEM_TIME, words, (), partitions, start=start, step=step)


def _method(cursor: Cursor) -> tuple[str, str | None, tuple[str, ...], bool]:
    """The method, its expression or columns, and whether it is KEY's first algorithm."""
    linear = "LINEAR " if cursor.accept("LINEAR") else ""
    word = cursor.accept_any("RANGE", "LIST", "HASH", "KEY")
    if not word:
        raise cursor.error("a way of partitioning was expected")
    if word == "KEY":
        old_hash = cursor.accept("ALGORITHM", "=") and cursor.number() == 1
        return f"{linear}KEY", None, _names(cursor.parenthesised()), old_hash
    if cursor.accept("COLUMNS"):
        return f"{word} COLUMNS", None, _names(cursor.parenthesised()), False
    return linear + word, cursor.expression(), (), False


def _names(tokens: list[Token]) -> tuple[str, ...]:
    return tuple(token.text for token in tokens if token.kind in ("word", "name"))


def parse_partitions(cursor: Cursor) -> tuple[Partition, ...]:
    """(PARTITION name …, …)"""
    cursor.expect("(")
    partitions = [_partition(cursor)]
    while cursor.accept(","):
        partitions.append(_partition(cursor))
    cursor.expect(")")
    return tuple(partitions)


def _partition(cursor: Cursor) -> Partition:
    cursor.expect("PARTITION")
    name = cursor.name()
    values: tuple[tuple[str, ...], ...] = ()
    if cursor.accept("VALUES", "LESS", "THAN"):
        values = ((MAXVALUE,),) if cursor.accept("MAXVALUE") else (_items(cursor, cursor.parenthesised()),)
    elif cursor.accept("VALUES", "IN"):
        values = tuple(_row(cursor, item) for item in _divided(cursor.parenthesised()))
    elif word := cursor.accept_any(DEFAULT, HISTORY, CURRENT):
        values = ((word,),)
    options, subpartitions = [_options(cursor)], list[str]()
    if cursor.accept("("):
        while True:
            cursor.expect("SUBPARTITION")
            subpartitions.append(cursor.name())
            options.append(_options(cursor))
            if not cursor.accept(","):
                break
        cursor.expect(")")
    return Partition(name, values, tuple(subpartitions), tuple(options) if any(options) else ())


def _options(cursor: Cursor) -> Options:
    """Storage options: COMMENT, DATA DIRECTORY and others. ENGINE is left out, and so are options that no server
    needs."""
    found: dict[str, str] = {}
    while cursor.token.kind == "word" and cursor.keyword not in ("SUBPARTITION", "PARTITION", "WITH", "WITHOUT"):
        if cursor.accept("STORAGE", "ENGINE"):
            name = "ENGINE"
        elif (name := cursor.next().keyword) in ("DATA", "INDEX"):
            cursor.expect("DIRECTORY")
            name += " DIRECTORY"
        cursor.accept("=")
        value = cursor.next().text
        if name in PARTITION_OPTIONS:
            found[name] = value
    return tuple(sorted(found.items()))


def _divided(tokens: list[Token]) -> list[list[Token]]:
    """Split tokens at commas outside of parentheses."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, ")": -1}.get(token.text if token.kind == "sign" else "", 0)
        if token.kind == "sign" and token.text == "," and not depth:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _row(cursor: Cursor, tokens: list[Token]) -> tuple[str, ...]:
    """A value of a LIST, or several in parentheses, one for each column."""
    if tokens[0].text == "(" and tokens[0].kind == "sign" and len(_divided(tokens)) == 1 and tokens[-1].text == ")":
        inner = _items(cursor, tokens[1:-1])
        return inner if len(inner) > 1 else (render(tokens),)
    return (_item(cursor, tokens),)


def _items(cursor: Cursor, tokens: list[Token]) -> tuple[str, ...]:
    return tuple(_item(cursor, item) for item in _divided(tokens))


def _item(cursor: Cursor, tokens: list[Token]) -> str:
    """A bound or a value; UNIX_TIMESTAMP of a time in the session's zone becomes its number."""
    text = render(as_written(tokens, cursor.context.charsets))
    if len(tokens) == 1 and tokens[0].keyword in (MAXVALUE, DEFAULT, "NULL"):
        return tokens[0].keyword
    if len(tokens) == 4 and tokens[0].keyword == "UNIX_TIMESTAMP" and tokens[2].kind == "string":
        seconds = _seconds(cursor, tokens[2].text)
        return text if seconds is None else str(seconds)
    return text


def _seconds(cursor: Cursor, text: str) -> int | None:
    """Convert a time of the session to seconds since 1970 UTC; None for an invalid time or an unknown zone."""
    try:
        instant = read_datetime(text, 0, cursor.context.flavour)
        utc = None if isinstance(instant, int) else cursor.context.to_utc(instant)
    except (ValueError, OverflowError):
        return None
    return None if utc is None else int(utc.replace(tzinfo=datetime.UTC).timestamp())


# ---- ALTER TABLE


def parse_partition_by(cursor: Cursor) -> list[AlterAction]:
    """After PARTITION."""
    cursor.expect("BY")
    return [PartitionBy(parse_partitioning(cursor))]


def parse_add(cursor: Cursor) -> list[AlterAction]:
    """After ADD PARTITION."""
    if_not_exists = cursor.accept("IF", "NOT", "EXISTS")
    cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL")
    if cursor.accept("PARTITIONS"):
        return [AddPartitions(count=_count(cursor))]
    return [AddPartitions(parse_partitions(cursor), if_not_exists=if_not_exists)]


def parse_drop(cursor: Cursor) -> list[AlterAction]:
    """After DROP PARTITION."""
    if_exists = cursor.accept("IF", "EXISTS")
    return [DropPartitions(_list_of_names(cursor), if_exists)]


def parse_truncate(cursor: Cursor) -> list[AlterAction]:
    """After TRUNCATE."""
    cursor.expect("PARTITION")
    if cursor.accept("ALL"):
        return [EmptyTable()]
    return [TruncatePartitions(_list_of_names(cursor))]


def parse_coalesce(cursor: Cursor) -> list[AlterAction]:
    """After COALESCE PARTITION."""
    cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL")
    return [CoalescePartitions(_count(cursor))]


def parse_reorganize(cursor: Cursor) -> list[AlterAction]:
    """After REORGANIZE PARTITION."""
    cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL")
    if cursor.at_end:
        return []
    names = _list_of_names(cursor)
    cursor.expect("INTO")
    return [ReorganizePartitions(names, parse_partitions(cursor))]


def parse_exchange(cursor: Cursor) -> list[AlterAction]:
    """After EXCHANGE PARTITION."""
    name = cursor.name()
    cursor.expect("WITH", "TABLE")
    table = cursor.table_name()
    return [ExchangePartition(name, table, _is_checked(cursor))]


def parse_convert(cursor: Cursor) -> list[AlterAction]:
    """After CONVERT (MariaDB): PARTITION name TO TABLE t, or TABLE t TO PARTITION name VALUES …"""
    if cursor.accept("PARTITION"):
        name = cursor.name()
        cursor.expect("TO", "TABLE")
        return [PartitionToTable(name, cursor.table_name())]
    cursor.expect("TABLE")
    table = cursor.table_name()
    cursor.expect("TO")
    partition = _partition(cursor)
    return [PartitionFromTable(table, partition, _is_checked(cursor))]


def _is_checked(cursor: Cursor) -> bool:
    word = cursor.accept_any("WITH", "WITHOUT")
    if word:
        cursor.expect("VALIDATION")
    return word != "WITHOUT"


def parse_maintenance(cursor: Cursor) -> list[AlterAction]:
    """After ANALYZE or CHECK PARTITION: every row stays in its partition."""
    _skip(cursor)
    return []


def parse_optimized(cursor: Cursor) -> list[AlterAction]:
    """After OPTIMIZE PARTITION: every row stays in its partition, and the table is defined again."""
    _skip(cursor)
    return [SetOptions()]


def parse_rewrite(cursor: Cursor) -> list[AlterAction]:
    """After REBUILD, which defines the table again, or REPAIR PARTITION."""
    repairs = cursor.tokens[cursor.index - 2].keyword == "REPAIR"
    cursor.accept_any("NO_WRITE_TO_BINLOG", "LOCAL")
    names = () if cursor.accept("ALL") else _list_of_names(cursor)
    _skip(cursor)
    return [RewritePartitions(names, repairs)]


def _skip(cursor: Cursor) -> None:
    while not cursor.at_end:
        cursor.next()


def _list_of_names(cursor: Cursor) -> tuple[str, ...]:
    names = [cursor.name()]
    while cursor.accept(","):
        names.append(cursor.name())
    return tuple(names)


PARTITION_ACTIONS: dict[str, Callable[[Cursor], list[AlterAction]]] = {
    "COALESCE": parse_coalesce, "REORGANIZE": parse_reorganize, "EXCHANGE": parse_exchange,
    **dict.fromkeys(("ANALYZE", "CHECK"), parse_maintenance),
    "OPTIMIZE": parse_optimized,
    **dict.fromkeys(("REBUILD", "REPAIR"), parse_rewrite),
}
"""By the word before PARTITION."""
