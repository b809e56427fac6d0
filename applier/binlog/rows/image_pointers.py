"""Image pointers: one number says which layout an image has and at which address it lies.

Layouts 0 and above MAX_IMAGE_ID stand for what else a row's pointer may lead to (applier.apply.index.pointer_kernel).
"""

from typing import Any, TypeVar, overload

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


@overload
def pointers_to(layouts: int, addresses: int) -> int: ...
@overload
def pointers_to(layouts: int | np.ndarray, addresses: np.ndarray) -> np.ndarray: ...
def pointers_to(layouts: int | np.ndarray, addresses: Any) -> Any:
    """Pointers to images of these layouts."""
    return layouts << IMAGE_ID_SHIFT | addresses
