"""INET4, INET6 and UUID values, which only MariaDB has."""

import numpy as np
import pyarrow as pa

from applier.mysql import address_kernel as kernels
from applier.mysql.byte_columns import beside, fixed_bytes
from applier.mysql.type_registry import TYPES

_NETWORK_TEXT = {"inet4": (kernels.inet4_text, kernels.INET4_CHARACTERS),
                 "inet6": (kernels.inet6_text, kernels.INET6_CHARACTERS),
                 "uuid": (kernels.uuid_text, kernels.UUID_CHARACTERS)}


def network_text(raw: pa.Array, base: str) -> pa.Array:
    """INET4, INET6 or UUID values as text. `raw`: pa.binary() in the order of the text, without its last zero bytes.

    Raises ValueError where a value is longer than the type is.
    """
    values = fixed_bytes(raw, TYPES[base].packed)
    write, room = _NETWORK_TEXT[base]
    out, offsets = np.empty(room * len(values), np.uint8), np.empty(len(values) + 1, np.int64)
    write(values.ctypes.data, len(values), out.ctypes.data, offsets)
    return beside(raw, pa.string(), offsets, out)
