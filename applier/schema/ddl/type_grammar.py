"""The data types of column definitions: their spellings, and their meanings to the servers.

Source: MySQL manual, "Data Types" and "Using Data Types from Other Database Engines"; MariaDB's "Data Types".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from applier.mysql.character_sets.client_charsets import label_bytes, label_of_bytes
from applier.mysql.character_sets.collations import (
    DEFAULT,
    Charset,
    binary_collation,
    bytes_per_character,
    charset_name,
    charset_of,
    collation_in,
    collation_name,
    default_collation,
    with_default,
)
from applier.mysql.character_sets.labels import labels_in
from applier.mysql.type_registry import TYPES, Family
from applier.mysql.types import BINARY, CHARACTER, MEMBERS, TEXT, ColumnType
from applier.mysql.value_sizes import most_bytes
from applier.schema.ddl.cursor import Cursor

_SYNONYMS = {word: name for name, entry in TYPES.items() for word in entry.synonyms}
_ORACLE = {"DATE": "datetime", "CLOB": "longtext", "RAW": "varbinary", "VARCHAR2": "varchar"}
"""The meanings of words in MariaDB's sql_mode ORACLE."""
_SCHEMAS = {"ORACLE_SCHEMA": "ORACLE", "MAXDB_SCHEMA": "MAXDB", "MARIADB_SCHEMA": ""}
"""Words that may precede a type, and the sql_mode in which it has this meaning without them."""
MAX_VARCHAR_BYTES = 0xFFFF


@dataclass(slots=True)
class TypeWords:
    """A data type as written, before it is known which character set the table has."""

    base: str
    arguments: tuple[int, ...] = ()
    members: tuple[str | bytes, ...] = ()
    unsigned: bool = False
    zerofill: bool = False
    charset: str | None = None
    collation: str | None = None
    binary_collation: bool = False
    compressed: bool = False
    srid: int | None = None
    serial: bool = False
    is_json: bool = False

    def accept_attribute(self, cursor: Cursor) -> bool:
        """Read one of the words that may follow a type, in any order."""
        if word := cursor.accept_any("UNSIGNED", "SIGNED", "ZEROFILL"):
            self.unsigned |= word != "SIGNED"
            self.zerofill |= word == "ZEROFILL"
        elif cursor.accept("CHARACTER", "SET") or cursor.accept("CHAR", "SET") or cursor.accept("CHARSET"):
            self.charset = charset_name(cursor.word_or_string())
        elif word := cursor.accept_any("ASCII", "UNICODE", "BYTE"):
            self.charset = {"ASCII": "latin1", "UNICODE": "ucs2", "BYTE": "binary"}[word]
        elif cursor.accept("BINARY"):
            self.binary_collation = True
        elif cursor.accept("COLLATE"):
            self.collation = collation_name(cursor.word_or_string())
        elif cursor.accept("COMPRESSED"):
            self.compressed = True
            if cursor.accept("="):
                cursor.next()  # the method: zlib is the only one
        elif cursor.accept("SRID"):
            self.srid = cursor.number()
        elif cursor.accept("REF_SYSTEM_ID"):
            cursor.expect("=")
            self.srid = cursor.number()
        else:
            return False
        return True


def parse_type(cursor: Cursor) -> TypeWords:
    """Return the type at the cursor, up to its arguments. Raises SchemaError for an unknown type."""
    words = _parse_base(cursor)
    if words.base in MEMBERS:
        cursor.expect("(")
        members = [cursor.literal_or_bytes()]
        while cursor.accept(","):
            members.append(cursor.literal_or_bytes())
        cursor.expect(")")
        words.members = tuple(members)
    elif cursor.accept("("):
        arguments = [cursor.number()]
        while cursor.accept(","):
            arguments.append(cursor.number())
        cursor.expect(")")
        words.arguments = tuple(arguments)
    return words


def _parse_base(cursor: Cursor) -> TypeWords:
    token = cursor.token
    word = cursor.keyword
    if not word.isidentifier():
        raise cursor.error("a data type was expected")
    cursor.next()
    meaning = ""
    if cursor.context.flavour == "mariadb":
        meaning = next((mode for mode in _SCHEMAS.values() if mode and mode in cursor.context.sql_mode), "")
        if word in _SCHEMAS and cursor.accept("."):
            meaning, word = _SCHEMAS[word], cursor.next().keyword
    if meaning == "ORACLE":
        if word == "NUMBER":
            return TypeWords("decimal" if cursor.ahead("(") else "double")
        if word == "BLOB" and not cursor.ahead("("):
            return TypeWords("longblob")
        if word in _ORACLE:
            return TypeWords(_ORACLE[word])
    if word == "TIMESTAMP" and meaning == "MAXDB":
        return TypeWords("datetime")
    if word in ("BOOL", "BOOLEAN"):
        return TypeWords("tinyint", (1,))
    if word == "SERIAL":
        return TypeWords("bigint", unsigned=True, serial=True)
    if word == "REAL":
        return TypeWords("float" if "REAL_AS_FLOAT" in cursor.context.sql_mode.upper() else "double")
    if word == "LONG":
        if cursor.accept("VARBINARY"):
            return TypeWords("mediumblob")
        if not cursor.accept_any("VARCHAR", "VARCHARACTER"):
            cursor.accept("CHAR", "VARYING") or cursor.accept("CHARACTER", "VARYING")
        return TypeWords("mediumtext")
    if word in ("NATIONAL", "NCHAR", "NVARCHAR"):
        varying = word == "NVARCHAR"
        if word == "NATIONAL":
            varying = cursor.keyword in ("VARCHAR", "VARCHARACTER")
            cursor.next()
        varying |= bool(cursor.accept_any("VARYING", "VARCHAR", "VARCHARACTER"))
        return TypeWords("varchar" if varying else "char", charset="utf8mb3")
    base = _SYNONYMS.get(word, word.lower())
    if base == "double":
        cursor.accept("PRECISION")
    elif base == "char" and cursor.accept("VARYING"):
        base = "varchar"
    elif base == "json" and cursor.context.flavour == "mariadb":
        return TypeWords("longtext", charset="utf8mb4", collation="utf8mb4_bin", is_json=True)
    elif base in ("geomcollection", "geometrycollection"):
        base = "geometrycollection" if cursor.context.flavour == "mariadb" else "geomcollection"
    if base not in TYPES:
        raise cursor.error("an unknown data type", token)
    return TypeWords(base)


def resolve_type(words: TypeWords, table: Charset, defaults: Mapping[str, str]) -> ColumnType:
    """Return the type that the server makes of the words in a table with that character set; KeyError for an unknown
    set.

    `defaults` are the collations of columns that name only a character set.
    """
    base, arguments = words.base, words.arguments
    first = arguments[0] if arguments else None
    number = ColumnType(base, words.unsigned, words.zerofill)
    match TYPES[base].family:
        case Family.TEXT | Family.MEMBERS:
            return _character_type(words, _column_charset(words, table, defaults))
        case Family.BYTES:
            return _sized(base, 1 if base == "binary" and first is None else first, 1, words)
        case Family.DECIMAL:
            precision, scale = (*arguments, *(10, 0)[len(arguments):])
            return replace(number, precision=precision or 10, scale=scale)
        case Family.FLOATING:
            if len(arguments) == 2:
                return replace(number, precision=first, scale=arguments[1])
            return replace(number, base="double" if first is not None and first > 24 else base)
        case Family.INTEGER:
            return replace(number, length=first)
        case Family.DATETIME | Family.TIME:
            return ColumnType(base, fsp=first or 0)
        case Family.BIT:
            return ColumnType(base, length=first or 1)
        case Family.VECTOR:
            return ColumnType(base, length=2048 if first is None else first)
        case _:
            return ColumnType(base, compressed=words.compressed, srid=words.srid)


def _column_charset(words: TypeWords, table: Charset, defaults: Mapping[str, str]) -> Charset:
    """Return a column's character set and collation: its own, else those of the table (manual: "Column Character
    Set")."""
    if words.collation == DEFAULT:
        return with_default(words.charset or table.charset, defaults)
    charset = words.charset or (charset_of(words.collation) if words.collation else None)
    if charset is None or (charset == table.charset and words.charset is None):
        charset, collation = table
    else:
        collation = default_collation(charset, defaults)
    if words.binary_collation:
        collation = binary_collation(charset)
    return Charset(charset, collation_in(charset, words.collation) if words.collation else collation)


def _character_type(words: TypeWords, charset: Charset) -> ColumnType:
    base, length = words.base, words.arguments[0] if words.arguments else None
    if base in MEMBERS:
        members = labels_in(charset.charset, words.members)
        return ColumnType(base, members=members, charset=charset.charset, collation=charset.collation)
    if base == "char" and length is None:
        length = 1
    if charset.charset == "binary":
        return _sized(TYPES[base].as_bytes, length, 1, words)
    sized = _sized(base, length, bytes_per_character(charset.charset), words)
    return ColumnType(sized.base, length=sized.length, charset=charset.charset, collation=charset.collation,
                      compressed=words.compressed)


def converted_type(column_type: ColumnType, charset: Charset) -> ColumnType:
    """Return the type that CONVERT TO CHARACTER SET makes of one: types with characters take the set, a TEXT grows so
    that it holds as many characters as before (MySQL manual, "ALTER TABLE Statement"), and labels keep their bytes."""
    base, old = column_type.base, column_type.charset
    if base not in CHARACTER or old is None or (base in MEMBERS and old == "binary"):
        return column_type
    if charset.charset == "binary" and base in TEXT:
        return ColumnType(column_type.entry.as_bytes, length=column_type.length, compressed=column_type.compressed)
    if column_type.entry.prefix:
        needed = most_bytes(column_type) // bytes_per_character(old) * bytes_per_character(charset.charset)
        base = _smallest(Family.TEXT, needed)
    elif base == "varchar" and (column_type.length or 0) * bytes_per_character(charset.charset) > MAX_VARCHAR_BYTES:
        base = "mediumtext"
    length = column_type.length if base in ("char", "varchar") else None
    return replace(column_type, base=base, length=length, members=recoded_labels(charset.charset, column_type),
                   charset=charset.charset, collation=charset.collation)


def recoded_labels(charset: str, column_type: ColumnType) -> tuple[str, ...]:
    """Return the bytes of an ENUM's or a SET's labels as text of another character set."""
    return tuple(label_of_bytes(label_bytes(label, column_type.charset or charset), charset)
                 for label in column_type.members)


def modified_type(column_type: ColumnType, old: ColumnType) -> ColumnType:
    """Return the type that MySQL gives a TEXT or BLOB without a length to which MODIFY changes a column beside CONVERT
    TO CHARACTER SET: the smallest one with room for as many characters as it counts in the old column (seen on 9.7)."""
    family = column_type.entry.family
    if not column_type.entry.prefix or family not in (Family.TEXT, Family.BYTES):
        return column_type
    width = bytes_per_character(column_type.charset) if column_type.charset else 1
    return replace(column_type, base=_smallest(family, _characters(old) * width))


def _characters(column_type: ColumnType) -> int:
    """Return the most characters of a column's values as MySQL counts them there: it takes the length of CHAR, VARCHAR,
    ENUM and SET as bytes. Exact as far as they may be more than 63."""
    base = column_type.base
    width = bytes_per_character(column_type.charset) if column_type.charset else 1
    if base == "json":
        return 1 << 32
    if column_type.entry.prefix:
        return most_bytes(column_type) // width
    if base in MEMBERS:
        sizes = list(map(len, column_type.members))
        return (max(sizes) if base == "enum" else sum(sizes) + len(sizes) - 1) // width
    if base in CHARACTER or base in BINARY:
        return (column_type.length or 0) // width
    return column_type.length or 0 if base == "bit" else (column_type.precision or 0) + 2


def _sized(base: str, length: int | None, width: int, words: TypeWords) -> ColumnType:
    """Return a string type by its size in bytes: TEXT(n) and BLOB(n) become the smallest type that holds n characters,
    and so does a VARCHAR or VARBINARY that is too long for a row (without strict mode)."""
    needed = (length or 0) * width
    if (base in ("text", "blob") and length) or (base in ("varchar", "varbinary") and needed > MAX_VARCHAR_BYTES):
        return ColumnType(_smallest(TYPES[base].family, needed), compressed=words.compressed)
    return ColumnType(base, length=None if TYPES[base].prefix else length, compressed=words.compressed)


def _smallest(family: Family, size: int) -> str:
    """Return the TEXT or BLOB type whose values have room for `size` bytes, else the largest."""
    kinds = [ColumnType(name) for name, entry in TYPES.items()
             if entry.family is family and entry.prefix and entry.wire == TYPES["blob"].wire]
    return next((kind.base for kind in kinds if size <= most_bytes(kind)), kinds[-1].base)
