"""The values of table and key options that a definition keeps (applier.schema.table_options)."""

from collections.abc import Mapping

from applier.schema.ddl.cursor import Cursor
from applier.schema.table_options import NAME, TEXT
from applier.schema.undecodable import shown

_UNSET = ("", "DEFAULT")
_SET_BY_ZERO = ("PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC", "TRANSACTIONAL",
                "PAGE_COMPRESSED")


def option_value(cursor: Cursor, name: str, kinds: Mapping[str, str]) -> str:
    """The value of a kept option at the cursor; "" where it is the default."""
    if kinds[name] == TEXT:
        text = cursor.string()
        return "" if name == "ENCRYPTION" and text.upper() == "N" else shown(text)
    text = cursor.string() if cursor.token.kind == "string" else cursor.next().text
    text = text.lower() if name == "DISTANCE" else text if kinds[name] == NAME else text.upper()
    is_default = text in _UNSET or (text == "0" and name not in _SET_BY_ZERO)
    return "" if is_default else text
