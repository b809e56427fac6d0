"""Image pointers: one number encodes the layout of an image and its address.

Layout 0 and layouts above MAX_IMAGE_ID mark other targets of a row's pointer (applier.apply.index.pointer_kernel).
"""

from typing import Any, TypeVar

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT

Numbers = TypeVar("Numbers", int, np.ndarray)
_ADDRESS = (1 << IMAGE_ID_SHIFT) - 1


def layouts_of(pointers: Numbers) -> Numbers:
    """Return the numbers of the images' layouts; -1 for no image."""
    return pointers >> IMAGE_ID_SHIFT


def addresses_of(pointers: Numbers) -> Numbers:
    """Return the addresses of the images."""
    return pointers & _ADDRESS


def pointers_to(layouts: Any, addresses: Numbers) -> Numbers:
    """Return pointers to images of these layouts, or of one layout (an int)."""
    pointers: Numbers = layouts << IMAGE_ID_SHIFT | addresses
    return pointers
