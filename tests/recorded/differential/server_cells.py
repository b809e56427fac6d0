"""Values as a server shows them, as files of expected/ have them (support/real_server.py)."""

from __future__ import annotations

import decimal
import json
import re


def cell(kind: str, value: str | bytes | None) -> object:
    """A value of a column type that the server shows, of a VECTOR as VECTOR_TO_STRING does; what is zero in a date is
    null."""
    if value is None:
        return None
    base = re.match(r"\w+", kind)[0]
    if base == "bit":
        return int.from_bytes(value, "big")
    if base == "vector":
        return [repr(float(number)) for number in json.loads(value)]
    if isinstance(value, bytes):
        return value.hex()
    if base.endswith("int") or base == "year":
        return int(value)
    if base in ("double", "float"):
        return repr(float(value))
    if base == "decimal":
        return format(decimal.Decimal(value), "f")
    if base in ("date", "datetime", "timestamp"):
        if "-00" in value[:10] or value.startswith("0000"):
            return None
        whole, _, digits = value.partition(".")
        return whole if base == "date" else f"{whole}.{digits:0<6}"
    if base == "time":
        hours, minutes, seconds = value.lstrip("-").split(":")
        micros = (int(hours) * 60 + int(minutes)) * 60_000_000 + int(decimal.Decimal(seconds) * 1_000_000)
        return -micros if value.startswith("-") else micros
    if base == "json":
        return json.dumps(json.loads(value), sort_keys=True, ensure_ascii=False)
    return value
