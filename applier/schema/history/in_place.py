"""Whether a server alters a table in place or copies it. In MariaDB this decides the values of NULLs in a column that
becomes NOT NULL, in MySQL what happens to TIMESTAMPs in a repeated hour, in both servers how invalid dates are
converted, and whether STORED columns are computed again. Judged by MariaDB 10.5, 10.11, 11.8 and MySQL 9.7."""

from __future__ import annotations

import itertools
import re

import pyarrow as pa

from applier.errors import NotComputable
from applier.mysql.names import folded
from applier.mysql.types import INTEGERS, MEMBERS, TEXT, ColumnType, arrow_type
from applier.mysql.value_sizes import member_bytes, most_bytes
from applier.mysql.versions import is_since
from applier.schema.checks import is_json, json_check
from applier.schema.ddl.type_grammar import recoded_labels
from applier.schema.history.alter_columns import same_name, with_names
from applier.schema.history.conversion import RowConversion
from applier.schema.key_infos import is_hashed
from applier.schema.table_parts import Column
from applier.schema.undecodable import shown_members
from applier.sql.evaluator import Typed, differs_by_row, evaluate

_DEPENDS = re.compile(r"\bFOREIGN\s+KEY\b|\bREFERENCES\b", re.IGNORECASE)
_NO_KEY = re.compile(r"\bDROP\s+FOREIGN\s+KEY\b", re.IGNORECASE)
_NOTHING = re.compile(r"ALTER TABLE (\w+ )?(\. )?(\w+ )?((ALGORITHM|LOCK) =? ?\w+[ ,]*)+;?", re.IGNORECASE)
"""An ALTER TABLE without actions, which MariaDB does not execute by copying rows."""
_CONVERTS = re.compile(r"\bCONVERT\s+TO\b", re.IGNORECASE)
_REBUILDS = re.compile(r"\b(FORCE|ENGINE|CONVERT)\b", re.IGNORECASE)
_REBUILDS_INNODB = re.compile(r"\b(FORCE|ENGINE|CONVERT|ROW_FORMAT|KEY_BLOCK_SIZE)\b", re.IGNORECASE)
_NOT_BESIDE_VIRTUAL = re.compile(
    r"\b(FORCE|ENGINE|CONVERT|ROW_FORMAT|KEY_BLOCK_SIZE|(RENAME|ALTER)\s+(INDEX|KEY)|FOREIGN\s+KEY|STATS_\w+|COMMENT\s*=)",
    re.IGNORECASE)
_SHORT = 255
_SHORTEST = 127
"""Bytes of the longest VARCHAR with a one-byte length, and of the longest value with one in any VARCHAR of InnoDB."""
_SORTS_KEYS = (10, 11)
_WITH_FOUR_BYTES = ("utf8mb3", "utf8mb4")
_BINARY_FORMS = {"char": "binary", "varchar": "varbinary", **{
    f"{size}text": f"{size}blob" for size in ("tiny", "", "medium", "long")}}


def is_in_place(conversion: RowConversion) -> bool:
    """True if the server executes the statement in place, with InnoDB. In strict mode MySQL does more in place."""
    old, new = conversion.old, conversion.new
    if conversion.leaves_rows or (_NOTHING.fullmatch(conversion.words) and new.flavour == "mariadb"):
        return True
    if not conversion.is_innodb:
        return _names_only(conversion)
    if conversion.asks_for_copy or conversion.loses_key or (old.versioning is None and new.versioning is not None):
        return False
    if _mixes_virtual(conversion) if new.flavour == "mysql" else any(
            column.generated == "virtual" for column in _dropped(conversion)):
        return False
    if conversion.ignores is not None and _adds_unique(conversion):
        return False
    if any(is_hashed(new, key) for key in new.keys):  # of a hidden VIRTUAL column
        return False
    for column, source in zip(new.columns, conversion.sources, strict=True):
        if source is None and (column.generated == "stored" or _computed_by_row(column)):
            return False
        if source is not None and not _keeps_its_form(old.columns[source], column, conversion):
            return False
    if _recodes_functional_part(conversion) or _moves_virtual(conversion) or _rebuilds_fulltext(conversion):
        return False
    copies = _copies_in_mysql if new.flavour == "mysql" else _copies_in_mariadb
    if any(copies(conversion, column, source) for column, source in zip(new.columns, conversion.sources, strict=True)):
        return False
    return not (conversion.foreign_key_checks and _DEPENDS.search(_NO_KEY.sub("", conversion.words)))


def computes_the_same(before: Column, after: Column, conversion: RowConversion) -> bool:
    """True if a column that stays has the same expression, or none, but for new names of columns."""
    if before.expression is None or after.expression is None:
        return before.expression == after.expression
    renames = {folded(was.name): column.name for was, column in conversion.kept if not same_name(was.name, column.name)}
    return before.expression == after.expression if not renames else (
        with_names(before.expression, renames) == with_names(after.expression, {}))


def _adds_unique(conversion: RowConversion) -> bool:
    """True if rows may have the same values in the columns of a new unique key."""
    names = {was.name: column.name for was, column in conversion.kept}
    before = [[(names.get(part.column or ""), part.length) for part in key.parts]
              for key in conversion.old.keys if key.kind in ("primary", "unique")]
    return any([(part.column, part.length) for part in key.parts] not in before
               for key in conversion.new.keys if key.kind in ("primary", "unique"))


def _copies_in_mysql(conversion: RowConversion, column: Column, source: int | None) -> bool:
    """True if MySQL copies the table's rows because of a column, and MariaDB does not: the column becomes NOT NULL
    outside of strict mode, is added with an expression as its default, is VIRTUAL and gets another expression, or is
    VIRTUAL and added before another one, as those of functional key parts are the last."""
    if source is None and column.generated == "virtual":
        return _precedes_virtual(conversion, column) or any(
            part.expression is not None for key in conversion.old.keys for part in key.parts)
    if source is None:
        return column.default is not None and column.default.kind == "expression"
    if column.generated == "virtual" and column.expression != conversion.old.columns[source].expression:
        return True
    return _loses_null(conversion, column, source) and "STRICT" not in conversion.sql_mode


def _mixes_virtual(conversion: RowConversion) -> bool:
    """True if VIRTUAL columns are added or dropped together with what MySQL does not do beside it without a copy: all
    but plain keys, or other columns that are dropped, or added beside new VIRTUAL ones, without a change of keys, and
    properties of columns that change no values. A functional key part has a hidden VIRTUAL column."""
    old, new = conversion.old, conversion.new
    added = [column for column, source in zip(new.columns, conversion.sources, strict=True) if source is None]
    dropped = _dropped(conversion)
    changed = added + dropped
    keys = [key for key in (*old.keys, *new.keys) if (key in old.keys) != (key in new.keys)]
    if any(part.expression is not None for key in keys for part in key.parts) and any(
            column.generated != "virtual" for column in changed):
        return True
    if all(column.generated != "virtual" for column in changed):
        return False
    if any(column.generated == "virtual" for column in dropped) and any(
            column.generated != "virtual" for column in added):
        return True
    kept = [source for source in conversion.sources if source is not None]
    return any(key.kind != "key" for key in keys) or kept != sorted(kept) or \
        (bool(keys) and any(column.generated != "virtual" for column in changed)) or \
        any(before.name != after.name or (before.type != after.type and after.type.base not in MEMBERS)
            for before, after in conversion.kept) or \
        (old.options, old.charset) != (new.options, new.charset) or bool(conversion.first_number) or \
        _NOT_BESIDE_VIRTUAL.search(conversion.words) is not None


def _recodes_functional_part(conversion: RowConversion) -> bool:
    """True if CONVERT TO CHARACTER SET changes the character set of the hidden VIRTUAL column of a functional key part.
    An expression that is not known counts as text."""
    old, new = conversion.old, conversion.new
    if not _CONVERTS.search(conversion.words):
        return False

    def without_rows(name: str) -> Typed:
        kind = old.column(name).type
        return pa.nulls(0, arrow_type(kind)), kind

    for expression in (part.expression for key in old.keys if key in new.keys for part in key.parts):
        if expression is None:
            continue
        try:
            charset = evaluate(expression, without_rows, 0, conversion.session).type.charset
        except NotComputable:
            return True
        if charset not in (None, new.charset):
            return True
    return False


def _moves_virtual(conversion: RowConversion) -> bool:
    """True if a VIRTUAL column that stays gets another number among the VIRTUAL ones, or, in MariaDB, among all, unless
    columns are only dropped, which rebuilds nothing."""
    places = [(source, number) for number, source in enumerate(conversion.sources)
              if source is not None and conversion.old.columns[source].generated == "virtual"]
    if conversion.new.flavour == "mysql":
        return places != sorted(places)
    return any(source != number for source, number in places) and not _only_drops(conversion)


def _rebuilds_fulltext(conversion: RowConversion) -> bool:
    """True if MySQL has to rebuild a table with a FULLTEXT key, which it does not do in place."""
    old, new = conversion.old, conversion.new
    if new.flavour != "mysql" or all(key.kind != "fulltext" for key in new.keys):
        return False
    stored = [number for number, column in enumerate(old.columns) if column.generated != "virtual"]
    sources = [source for column, source in zip(new.columns, conversion.sources, strict=True)
               if column.generated != "virtual"]
    return sources != stored or old.primary_key != new.primary_key or any(
        before.nullable != after.nullable for before, after in conversion.kept) or \
        _REBUILDS_INNODB.search(conversion.words) is not None


def _only_drops(conversion: RowConversion) -> bool:
    """True if all that a statement does is to drop columns, with the keys over these alone, and to add VIRTUAL ones;
    VIRTUAL columns and text have no keys."""
    old, new = conversion.old, conversion.new
    kept = [source for source in conversion.sources if source is not None]
    added = (column for column, source in zip(new.columns, conversion.sources, strict=True) if source is None)
    names = {old.columns[source].name for source in kept}
    parts = {part.column for key in new.keys for part in key.parts}
    return kept == sorted(kept) and all(before == after for before, after in conversion.kept) and all(
        column.generated == "virtual" for column in added) and (
        [key for key in old.keys if names & {part.column for part in key.parts}] == [*new.keys]) and not any(
        column.generated == "virtual" and column.name in parts for column in new.columns) and all(
        key.kind != "fulltext" for key in old.keys) and (old.options, old.charset) == (new.options, new.charset) and \
        not conversion.first_number and _REBUILDS.search(conversion.words) is None


def _copies_in_mariadb(conversion: RowConversion, column: Column, source: int | None) -> bool:
    """The same the other way round: a STORED column is defined again, a VIRTUAL one is added together with another, or
    a column becomes NOT NULL, which rebuilds the table, where there are STORED columns, or together with changes that
    are only possible without a rebuild."""
    if conversion.says_stored:
        return True
    if source is None:
        return column.generated == "virtual" and (_precedes_virtual(conversion, column) or any(
            number is None and other.generated is None
            for other, number in zip(conversion.new.columns, conversion.sources, strict=True)))
    if not _loses_null(conversion, column, source):
        return False
    return any(other.generated == "stored" or (number is None and other.generated is not None)
               for other, number in zip(conversion.new.columns, conversion.sources, strict=True))


def _precedes_virtual(conversion: RowConversion, column: Column) -> bool:
    """True if an added column is before a VIRTUAL one that was there."""
    sources = zip(conversion.new.columns, conversion.sources, strict=True)
    return any(later.generated == "virtual" and source is not None for later, source in
               itertools.islice(sources, conversion.new.column_index(column.name), None))


def _needs_more_bytes(old: ColumnType, new: ColumnType, flavour: str) -> bool:
    """True if the lengths of a VARCHAR's values get a second byte; in MariaDB those below 128 never do."""
    return (flavour == "mysql" or most_bytes(old) > _SHORTEST) and most_bytes(old) <= _SHORT < most_bytes(new)


def _loses_null(conversion: RowConversion, column: Column, source: int) -> bool:
    return conversion.old.columns[source].nullable and not column.nullable


def _names_only(conversion: RowConversion) -> bool:
    """True if only names and defaults change, which every engine changes in place."""
    old, new = conversion.old, conversion.new
    return not (conversion.asks_for_copy or (conversion.says_stored and new.flavour == "mariadb")) and \
        _REBUILDS.search(conversion.words) is None and old.keys == new.keys and \
        conversion.sources == tuple(range(len(old.columns))) and all(
            (before.type, before.nullable, before.generated) == (after.type, after.nullable, after.generated)
            and computes_the_same(before, after, conversion)
            for before, after in zip(old.columns, new.columns, strict=True))


def _keeps_labels(old: ColumnType, new: ColumnType, flavour: str) -> bool:
    """True if an ENUM's or a SET's first labels have the bytes of the old ones; in MySQL the character set may be
    another one."""
    kept = old.members
    if old.charset != new.charset:
        if flavour == "mariadb" or old.charset is None or new.charset is None:
            return False
        kept = shown_members(recoded_labels(new.charset, old), new.charset, flavour)
    return new.members[:len(kept)] == kept


def _dropped(conversion: RowConversion) -> list[Column]:
    return [column for number, column in enumerate(conversion.old.columns) if number not in conversion.sources]


def _computed_by_row(column: Column) -> bool:
    """True if a default may differ from row to row."""
    return column.default is not None and column.default.kind == "expression" and differs_by_row(column.default.text)


def _keeps_its_form(before: Column, after: Column, conversion: RowConversion) -> bool:
    """True if both columns' values have the same bytes; NULLs of a TIMESTAMP have to become the time. The sources of a
    STORED column are unchanged."""
    old, new = before.type, after.type
    in_mysql = conversion.new.flavour == "mysql"
    if "stored" in (before.generated, after.generated) and (
            before.generated != after.generated or not computes_the_same(before, after, conversion)):
        return False
    if after.auto_increment and not before.auto_increment:
        return False
    if before.check != after.check and is_json(before.check, before.name) != (after.check == json_check(after.name)):
        return False  # JSON is a type of its own to MariaDB, whose values are LONGTEXT's
    if new.base == "timestamp" and before.nullable and not after.nullable and not (
            in_mysql and "STRICT" in conversion.sql_mode):
        return False
    if in_mysql and old.base in TEXT:
        return _keeps_text(before, after, conversion)
    if old.base != new.base or _sorts_key_anew(before, after, conversion):
        return False
    if old.base in INTEGERS:
        return old.unsigned == new.unsigned
    if old.base in ("float", "double"):
        return old.unsigned == new.unsigned
    if old.base in MEMBERS:
        return _keeps_labels(old, new, conversion.new.flavour) and member_bytes(old) == member_bytes(new)
    charsets = old.charset == new.charset or (old.charset, new.charset) == _WITH_FOUR_BYTES
    if old.base in ("varchar", "varbinary"):
        longer = _needs_more_bytes(old, new, conversion.new.flavour)
        return charsets and (new.length or 0) >= (old.length or 0) and not longer
    return charsets and (old.length, old.precision, old.scale, old.fsp, old.unsigned) == (
        new.length, new.precision, new.scale, new.fsp, new.unsigned)


def _sorts_key_anew(before: Column, after: Column, conversion: RowConversion) -> bool:
    """True if a key is over the column, its collation is another one, and the server copies the table then: those of
    MariaDB from 10.11 on sort the keys of CHAR and VARCHAR alone (10.5 does not)."""
    version, has_length = conversion.server_version, before.type.base in ("char", "varchar")
    if conversion.new.flavour == "mariadb" and has_length and (not version or is_since(version, _SORTS_KEYS)):
        return False
    return before.type.collation != after.type.collation and any(
        part.column == after.name for key in conversion.new.keys for part in key.parts)


def _keeps_text(before: Column, after: Column, conversion: RowConversion) -> bool:
    """True if text has the same bytes in MySQL: in the same character set, in utf8mb4 instead of utf8mb3, or as bytes;
    a CHAR only if it then has as many characters, or bytes. No key may be over text in another collation."""
    old, new = before.type, after.type
    is_binary = _BINARY_FORMS[old.base] == new.base
    if not is_binary and (old.base != new.base or (
            old.charset != new.charset and (old.charset, new.charset) != _WITH_FOUR_BYTES)):
        return False
    if _sorts_key_anew(before, after, conversion):
        return False
    if old.base == "varchar":
        fits = most_bytes(new) >= most_bytes(old) if is_binary else (new.length or 0) >= (old.length or 0)
        return fits and not _needs_more_bytes(old, new, "mysql")
    return old.length == new.length and (old.base != "char" or not is_binary or most_bytes(old) == most_bytes(new))
