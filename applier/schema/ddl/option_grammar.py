"""The values of table and key options that a definition keeps (applier.schema.table_options)."""

import re
from collections.abc import Mapping

from applier.schema.ddl.cursor import Cursor
from applier.schema.table_options import NAME, NUMBER, TEXT, WORD
from applier.schema.undecodable import shown

_UNSET = ("", "DEFAULT")
_WRITTEN = {NUMBER: re.compile(r"[0-9]{1,20}|DEFAULT", re.IGNORECASE), WORD: re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}"),
            NAME: re.compile(r".{1,64}", re.DOTALL)}
"""What a value looks like, by its kind."""
_SET_BY_ZERO = ("PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "TRANSACTIONAL",
                "PAGE_COMPRESSED")


def option_value(cursor: Cursor, name: str, kinds: Mapping[str, str]) -> str:
    """The value of a kept option at the cursor; "" where it is the default, or not written as servers show it."""
    if kinds[name] == TEXT:
        text = cursor.string() if cursor.token.kind in ("string", "bytes") else cursor.next().text
        return "" if name == "ENCRYPTION" and text.upper() == "N" else shown(text)
    if cursor.token.kind == "bytes":
        text = str(int(cursor.next().text or "0", 16))
    else:
        text = cursor.string() if cursor.token.kind == "string" else cursor.next().text
    if not _WRITTEN[kinds[name]].fullmatch(text):
        return ""
    text = text.lower() if name == "DISTANCE" else text if kinds[name] == NAME else text.upper()
    is_default = text in _UNSET or (text == "0" and name not in _SET_BY_ZERO)
    return "" if is_default else text
