"""SQL in files that the servers' command line clients read: every client reads the same names and literals in it.

A client divides a file into statements itself, in its own character set, which SET NAMES does not change. In gbk,
gb18030, big5, sjis and cp932 the last byte of a UTF-8 character may begin a character whose second byte is a backslash
or a backquote, so the client takes the text behind it for statements, or for its own commands, such as a shell's. A
single or double quote, a blank, a comma, a bracket or a dot is never a second byte, in any character set that clients
have. Where text has a backslash behind a byte of 0x80 or more, and a name a backquote, it is written in another way;
rows are written by applier.jobs.exporting.text_kernel.
Source: the servers' own clients, and MySQL manual, "Schema Object Names", "Using Character Sets and Unicode".
"""

import re

from applier.errors import SchemaError

CHARSET = "/*!999999\\C utf8mb4 */\n"
"""Has clients divide the file in UTF-8. They find their own commands in such a comment, which no server runs."""
HEAD = "/*M!999999\\- enable the sandbox mode */\n" + CHARSET
"""How each file of SQL begins. The first line is that of mariadb-dump: MariaDB's clients (since 10.5.25, 10.6.18 and
10.11.8) run no shell, and read and write no file then, LOAD DATA LOCAL included; older ones stop there."""

_QUOTED = re.compile(r"""--\s[^\n]*|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`""", re.DOTALL)
_LINE_END = re.compile(r"(?<=[^\x00-\x7f])\\[nr]")
_MISREAD_TEXT = re.compile(r"[^\x00-\x7f]\\")
_MISREAD_NAME = re.compile(r"[^\x00-\x7f]`")
_DROPPED = "\\\n"
"""In a name: MySQL's client drops a backslash at the end of a line."""
_BARE = re.compile(r"(?:[0-9]*[\u0080-\uffff]|[A-Za-z_])[0-9A-Za-z_$\u0080-\uffff]*")
"""Names that need no quotes; one that has a character beyond ASCII is no keyword."""
_END = re.compile(r"\s*(?:;|\Z)")


def for_clients(sql: str) -> str:
    """SQL of the default sql_mode in which every client finds the same names and literals; comments begin with "-- ".

    Names that could be misread lose their backquotes, and line ends in text their backslashes. Raises SchemaError for a
    name or a text that cannot be written so.
    """
    return sql if sql.isascii() and _DROPPED not in sql else _QUOTED.sub(_rewritten, sql)


def _rewritten(match: re.Match[str]) -> str:
    quoted = match[0]
    if quoted[0] == "-":
        return quoted
    if quoted[0] != "`":
        text = _LINE_END.sub(lambda end: "\n" if end[0] == "\\n" else "\r", quoted)
        return _refused("text", quoted) if _MISREAD_TEXT.search(text) else text
    if _DROPPED in quoted:
        return _refused("name", quoted)
    if not _MISREAD_NAME.search(quoted):
        return quoted
    name = quoted[1:-1]
    if not _BARE.fullmatch(name):
        return _refused("name", quoted)
    # behind a dot without a blank it would be a number
    before = " " if name[0].isdigit() and match.string.endswith(".", 0, match.start()) else ""
    # clients drop trailing characters that are not visible in their set, but no comment that servers run
    return before + name + (" /*!*/" if _END.match(match.string, match.end()) else "")


def _refused(what: str, quoted: str) -> str:
    raise SchemaError(f"a client of another character set than UTF-8 could misread the {what} {quoted!r}, and run a "
                      "part of the file as commands",
                      hint="leave the table out with --ignore-tables, or rename what has this name; files of events "
                           "(`applier undo --format binlog`) can have it")
