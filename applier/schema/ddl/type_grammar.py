"""The data types of column definitions: their spellings, and what the servers make of them.

Source: MySQL manual, "Data Types" and "Using Data Types from Other Database Engines"; MariaDB's "Data Types".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from applier.mysql.collations import (
    Charset,
    binary_collation,
    bytes_per_character,
    charset_name,
    charset_of,
    collation_in,
    collation_name,
    default_collation,
)
from applier.mysql.labels import labels_in
from applier.mysql.types import CHARACTER, FRACTIONAL, GEOMETRY, INTEGERS, NETWORK, ColumnType
from applier.schema.ddl.cursor import Cursor

_SYNONYMS = {
    "INT1": "tinyint", "INT2": "smallint", "INT3": "mediumint", "MIDDLEINT": "mediumint", "INT4": "int",
    "INTEGER": "int", "INT8": "bigint", "DEC": "decimal", "NUMERIC": "decimal", "FIXED": "decimal",
    "FLOAT4": "float", "FLOAT8": "double", "CHARACTER": "char", "VARCHARACTER": "varchar",
}
_ORACLE = {"DATE": "datetime", "CLOB": "longtext", "RAW": "varbinary", "VARCHAR2": "varchar"}
"""What words mean to MariaDB in sql_mode ORACLE."""
_PLAIN = {*INTEGERS, *FRACTIONAL, *GEOMETRY, *NETWORK, "decimal", "float", "double", "bit", "date", "year", "json",
          "vector", "char", "varchar", "binary", "varbinary", "enum", "set", "tinytext", "text", "mediumtext",
          "longtext", "tinyblob", "blob", "mediumblob", "longblob"}
_TO_BINARY = {"char": "binary", "varchar": "varbinary", "tinytext": "tinyblob", "text": "blob",
              "mediumtext": "mediumblob", "longtext": "longblob"}
_TEXT_SIZES = (("tiny", 0xFF), ("", 0xFFFF), ("medium", 0xFFFFFF), ("long", 0xFFFFFFFF))
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
    """The type at the cursor, up to its arguments. Raises SchemaError for an unknown type."""
    words = _parse_base(cursor)
    if words.base in ("enum", "set"):
        cursor.expect("(")
        members = [cursor.string_or_bytes()]
        while cursor.accept(","):
            members.append(cursor.string_or_bytes())
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
    if cursor.context.flavour == "mariadb" and "ORACLE" in cursor.context.sql_mode:
        if word == "MARIADB_SCHEMA" and cursor.accept("."):  # the type means what it means without the mode
            word = cursor.next().keyword
        elif word == "NUMBER":
            return TypeWords("decimal" if cursor.ahead("(") else "double")
        elif word == "BLOB" and not cursor.ahead("("):
            return TypeWords("longblob")
        elif word in _ORACLE:
            return TypeWords(_ORACLE[word])
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
        return TypeWords("longtext", charset="utf8mb4", collation="utf8mb4_bin")
    elif base in ("geomcollection", "geometrycollection"):
        base = "geometrycollection" if cursor.context.flavour == "mariadb" else "geomcollection"
    if base not in _PLAIN:
        raise cursor.error("an unknown data type", token)
    return TypeWords(base)


def resolve_type(words: TypeWords, table: Charset, defaults: Mapping[str, str]) -> ColumnType:
    """The type that the server makes of the words in a table with that character set; KeyError for an unknown set.

    `defaults` are the collations of columns that name only a character set.
    """
    base, arguments = words.base, words.arguments
    first = arguments[0] if arguments else None
    if base in CHARACTER:
        return _character_type(words, _column_charset(words, table, defaults))
    if base in ("binary", "varbinary", "blob"):
        return _sized(base, 1 if base == "binary" and first is None else first, 1, words)
    number = ColumnType(base, words.unsigned, words.zerofill)
    if base == "decimal":
        precision, scale = (*arguments, *(10, 0)[len(arguments):])
        return replace(number, precision=precision or 10, scale=scale)
    if base in ("float", "double"):
        if len(arguments) == 2:
            return replace(number, precision=first, scale=arguments[1])
        return replace(number, base="double" if first is not None and first > 24 else base)
    if base in INTEGERS:
        return replace(number, length=first)
    if base in FRACTIONAL:
        return ColumnType(base, fsp=first or 0)
    if base == "bit":
        return ColumnType(base, length=first or 1)
    if base == "vector":
        return ColumnType(base, length=2048 if first is None else first)
    return ColumnType(base, compressed=words.compressed, srid=words.srid)


def _column_charset(words: TypeWords, table: Charset, defaults: Mapping[str, str]) -> Charset:
    """A column's character set and collation: its own, else those of the table (manual: "Column Character Set")."""
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
    if base in ("enum", "set"):
        members = labels_in(charset.charset, words.members)
        return ColumnType(base, members=members, charset=charset.charset, collation=charset.collation)
    if base == "char" and length is None:
        length = 1
    if charset.charset == "binary":
        return _sized(_TO_BINARY[base], length, 1, words)
    sized = _sized(base, length, bytes_per_character(charset.charset), words)
    return ColumnType(sized.base, length=sized.length, charset=charset.charset, collation=charset.collation,
                      compressed=words.compressed)


def converted_type(column_type: ColumnType, charset: Charset) -> ColumnType:
    """The type that CONVERT TO CHARACTER SET makes of one: types with characters take the set, and a TEXT grows so that
    it holds as many characters as before (MySQL manual, "ALTER TABLE Statement")."""
    base, old = column_type.base, column_type.charset
    if base not in CHARACTER or old is None:
        return column_type
    if charset.charset == "binary" and base in _TO_BINARY:
        return ColumnType(_TO_BINARY[base], length=column_type.length, compressed=column_type.compressed)
    if base.endswith("text"):
        limit = next(limit for size, limit in _TEXT_SIZES if base == size + "text")
        needed = limit // bytes_per_character(old) * bytes_per_character(charset.charset)
        base = next((size for size, most in _TEXT_SIZES if needed <= most), "long") + "text"
    elif base == "varchar" and (column_type.length or 0) * bytes_per_character(charset.charset) > MAX_VARCHAR_BYTES:
        base = "mediumtext"
    length = column_type.length if base in ("char", "varchar") else None
    return replace(column_type, base=base, length=length, charset=charset.charset, collation=charset.collation)


def _sized(base: str, length: int | None, width: int, words: TypeWords) -> ColumnType:
    """A string type by its size in bytes: TEXT(n) and BLOB(n) become the smallest type that holds n characters, and so
    does a VARCHAR or VARBINARY that is too long for a row (without strict mode)."""
    needed = (length or 0) * width
    if (base in ("text", "blob") and length) or (base in ("varchar", "varbinary") and needed > MAX_VARCHAR_BYTES):
        size = next(size for size, limit in _TEXT_SIZES if needed <= limit)
        return ColumnType(size + ("blob" if base in ("blob", "varbinary") else "text"), compressed=words.compressed)
    has_length = not base.endswith(("text", "blob"))
    return ColumnType(base, length=length if has_length else None, compressed=words.compressed)
