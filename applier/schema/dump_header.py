"""The comments at the beginning of a dump: the database of a dump whose statements do not name one."""

from __future__ import annotations

import re

_NAME = r"(?:`((?:[^`\r\n]|``){1,64})`|([^`\s][^\r\n]{0,63}?))"
_DATABASE = re.compile(rf"^-- (?:Host: .*[ \t])?Database: [ \t]*{_NAME}[ \t]*\r?$", re.MULTILINE)


def database_of_header(text: str) -> str | None:
    """Return the database that comments of mysqldump (`-- Host: … Database: shop`) and phpMyAdmin (`-- Database:
    `shop``) name; None if there is no such comment."""
    found = _DATABASE.search(text)
    return None if found is None else found[1].replace("``", "`") if found[1] else found[2]
