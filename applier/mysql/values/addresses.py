"""INET4, INET6 and UUID values, which only MariaDB has: read from text, and shown as MariaDB shows them."""

import re
from collections.abc import Callable
from ipaddress import IPv6Address

import numpy as np
import pyarrow as pa

from applier.mysql.type_registry import TYPES
from applier.mysql.values import address_kernel as kernels
from applier.mysql.values.byte_columns import beside, fixed_bytes
from keysearch.addresses import address_of

_INET4 = re.compile(r"([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\Z")
_UUID = re.compile(r"[0-9A-Fa-f](?:-*[0-9A-Fa-f]){31}\Z")
_NETWORK_TEXT = {"inet4": (kernels.inet4_text, kernels.INET4_CHARACTERS),
                 "inet6": (kernels.inet6_text, kernels.INET6_CHARACTERS),
                 "uuid": (kernels.uuid_text, kernels.UUID_CHARACTERS)}


def packed(text: str, base: str) -> bytes:
    """An INET4, INET6 or UUID as bytes in the order of the text, in the notations that MariaDB reads. Raises ValueError
    for any other text."""
    return _READ[base](text)


def _inet4(text: str) -> bytes:
    """Leading zeros mean nothing."""
    if (match := _INET4.match(text)) is None:
        raise ValueError(f"{text!r} is not an INET4")
    return bytes(map(int, match.groups()))


def _inet6(text: str) -> bytes:
    """The last four bytes may be in the notation of an INET4, but not alone."""
    head, colon, last = text.rpartition(":")
    if "." in last and colon:
        text = f"{head}:{_inet4(last)[:2].hex()}:{_inet4(last)[2:].hex()}"
    if "%" in text:
        raise ValueError(f"{text!r} is not an INET6")
    return IPv6Address(text).packed


def _uuid(text: str) -> bytes:
    """Hyphens may stand between any two digits."""
    if _UUID.match(text) is None:
        raise ValueError(f"{text!r} is not a UUID")
    return bytes.fromhex(text.replace("-", ""))


_READ: dict[str, Callable[[str], bytes]] = {"inet4": _inet4, "inet6": _inet6, "uuid": _uuid}


def network_text(raw: pa.Array, base: str) -> pa.Array:
    """INET4, INET6 or UUID values as text. `raw`: pa.binary() in the order of the text, without its last zero bytes.

    Raises ValueError where a value is longer than the type is.
    """
    values = fixed_bytes(raw, TYPES[base].packed)
    write, room = _NETWORK_TEXT[base]
    out, offsets = np.empty(room * len(values), np.uint8), np.empty(len(values) + 1, np.int64)
    write(address_of(values), len(values), address_of(out), offsets)
    return beside(raw, pa.string(), offsets, out)
