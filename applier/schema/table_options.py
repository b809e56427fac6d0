"""Options of tables and keys that are kept so that a definition comes back whole; no row depends on them.

Options that name files, tablespaces or plugins of one server (DATA DIRECTORY, TABLESPACE, CONNECTION, …) are not kept.
Source: MySQL manual, "CREATE TABLE Statement"; MariaDB's "CREATE TABLE"; judged by SHOW CREATE TABLE.
"""

from collections.abc import Iterable, Mapping

from applier.mysql.types import quote_name, quote_text

NUMBER, WORD, TEXT, NAME = "number", "word", "text", "name"
Options = tuple[tuple[str, str], ...]
"""Names in upper case with their values, each name once."""
TABLE_OPTIONS: Mapping[str, str] = {
    "ROW_FORMAT": WORD, "KEY_BLOCK_SIZE": NUMBER, "MIN_ROWS": NUMBER, "MAX_ROWS": NUMBER, "AVG_ROW_LENGTH": NUMBER,
    "CHECKSUM": NUMBER, "DELAY_KEY_WRITE": NUMBER, "PACK_KEYS": NUMBER, "STATS_PERSISTENT": NUMBER,
    "STATS_AUTO_RECALC": NUMBER, "STATS_SAMPLE_PAGES": NUMBER, "COMPRESSION": TEXT, "ENCRYPTION": TEXT,
    "TRANSACTIONAL": NUMBER, "PAGE_COMPRESSED": NUMBER, "PAGE_COMPRESSION_LEVEL": NUMBER,
    "ENCRYPTED": WORD, "ENCRYPTION_KEY_ID": NUMBER, "COMMENT": TEXT,
}
"""The kind of value of each option of a table."""
KEY_OPTIONS: Mapping[str, str] = {"USING": WORD, "KEY_BLOCK_SIZE": NUMBER, "PARSER": NAME, "M": NUMBER,
                                  "DISTANCE": WORD, "COMMENT": TEXT}
"""The kind of value of each option of a key."""


def with_options(before: Options, said: Iterable[tuple[str, str]]) -> Options:
    """Return the options after a statement: each has the last value that is given."""
    values = dict(before) | dict(said)
    return tuple((name, value) for name, value in values.items() if value)


def options_sql(options: Options, kinds: Mapping[str, str]) -> list[str]:
    """Return each option as in CREATE TABLE."""
    equals = "=" if kinds is TABLE_OPTIONS else " "
    return [f"WITH PARSER {quote_name(value)}" if name == "PARSER" else
            f"{name}{'=' if name in ('M', 'DISTANCE') else equals}{quote_text(value) if kinds[name] == TEXT else value}"
            for name, value in options]
