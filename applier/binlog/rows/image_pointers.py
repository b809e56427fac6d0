"""Image pointers: one number encodes the layout of an image and its address.

Layouts 0 and above MAX_IMAGE_ID stand for other targets of a row's pointer (applier.apply.index.pointer_kernel).
"""

from typing import Any, TypeVar

import numpy as np

from applier.binlog.rows.change_records import IMAGE_ID_SHIFT

Numbers = TypeVar("Numbers", int, np.ndarray)
_ADDRESS = (1 << IMAGE_ID_SHIFT) - 1


def layouts_of(pointers: Numbers) -> Numbers:
    """The numbers of the images' layouts; -1 for no image."""
    return pointers >> IMAGE_ID_SHIFT


def addresses_of(pointers: Numbers) -> Numbers:
    """Where the images lie."""
    return pointers & _ADDRESS


def pointers_to(layouts: Any, addresses: Numbers) -> Numbers:
    """Pointers to images of these layouts, or of one layout (an int)."""
    pointers: Numbers = layouts << IMAGE_ID_SHIFT | addresses
    return pointers
