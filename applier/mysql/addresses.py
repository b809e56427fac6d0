"""INET4, INET6 and UUID values, which only MariaDB has: read from text, and shown as MariaDB shows them."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address
from uuid import UUID

import numpy as np
import pyarrow as pa

from applier.mysql import address_kernel as kernels
from applier.mysql.byte_columns import beside, fixed_bytes
from applier.mysql.type_registry import TYPES
from keysearch.addresses import address_of

_READ: dict[str, Callable[[str], bytes]] = {
    "inet4": lambda text: IPv4Address(text).packed, "inet6": lambda text: IPv6Address(text).packed,
    "uuid": lambda text: UUID(text).bytes,
}
_NETWORK_TEXT = {"inet4": (kernels.inet4_text, kernels.INET4_CHARACTERS),
                 "inet6": (kernels.inet6_text, kernels.INET6_CHARACTERS),
                 "uuid": (kernels.uuid_text, kernels.UUID_CHARACTERS)}


def packed(text: str, base: str) -> bytes:
    """An INET4, INET6 or UUID in any notation, as bytes in the order of the text. Raises ValueError for
    any other text."""
    return _READ[base](text)


def network_text(raw: pa.Array, base: str) -> pa.Array:
    """INET4, INET6 or UUID values as text. `raw`: pa.binary() in the order of the text, without its last zero bytes.

    Raises ValueError where a value is longer than the type is.
    """
    values = fixed_bytes(raw, TYPES[base].packed)
    write, room = _NETWORK_TEXT[base]
    out, offsets = np.empty(room * len(values), np.uint8), np.empty(len(values) + 1, np.int64)
    write(address_of(values), len(values), address_of(out), offsets)
    return beside(raw, pa.string(), offsets, out)
