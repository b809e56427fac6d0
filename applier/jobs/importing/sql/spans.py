"""A column's literals as spans of a dump, their values, and their two forms in kernels: bytes and numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.jobs.importing.sql import literal_kernel as kernels
from applier.jobs.importing.sql import tuple_kernel as kind
from keysearch.addresses import address_of


@dataclasses.dataclass(frozen=True)
class LiteralContext:
    """The context on which a literal's meaning depends: the session's character set, whether a backslash escapes, the
    time zone. `is_guessed`: the character set was not named."""

    charset: str = "utf8mb4"
    backslash: bool = True
    time_zone: str = "+00:00"
    flavour: str = "mysql"
    is_guessed: bool = False


@dataclasses.dataclass(frozen=True)
class Literals:
    """One column's literals: `starts` and `lengths` (int64[n]) of spans in `data` (uint8), `kinds` (uint8[n]), and the
    set of kinds that are among them."""

    data: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    kinds: np.ndarray
    seen: int

    def __len__(self) -> int:
        return len(self.kinds)

    def text(self, row: int) -> bytes:
        """Return the span of one literal."""
        start = int(self.starts[row])
        return self.data[start:start + int(self.lengths[row])].tobytes()


class LiteralError(Exception):
    """A literal that the column cannot take: its row, and why."""

    def __init__(self, row: int, why: str) -> None:
        super().__init__(why)
        self.row, self.index, self.column, self.literal = row, 0, "", ""

    def in_column(self, index: int, column: str, literals: Literals) -> LiteralError:
        """Return the same error with its column: the number among the INSERT's, the name; and the literal."""
        text = literals.text(self.row).decode("utf-8", "replace")
        self.index, self.column, self.literal = index, column, text if len(text) <= 60 else text[:59] + "…"
        return self


@dataclasses.dataclass
class Values:
    """Values of a column; `unusual` are rows (bool[n]) whose literals are read one by one, None if there are none."""

    array: pa.Array
    unusual: np.ndarray | None = None
    zero_dates: int = 0


def byte_values(literals: Literals, allowed: int, reading: LiteralContext) -> Values:
    """Return literals of the kinds in `allowed` as pa.binary()."""
    rows = len(literals)
    if reading.charset != "utf8mb4":  # text that names another character set than the session's is read one by one
        allowed &= ~(1 << kind.HEX_TEXT)
    out = np.empty(int(literals.lengths.sum()) + 1, np.uint8)
    offsets, states = np.empty(rows + 1, np.int64), np.empty(rows, np.uint8)
    kernels.to_bytes(address_of(literals.data), literals.starts, literals.lengths, literals.kinds, allowed,
                     reading.backslash, address_of(out), offsets, states)
    if offsets[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowCapacityError(f"{offsets[-1]} bytes in one column; take fewer rows at once")
    buffers = [_valid_bits(states), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out)]
    return Values(pa.Array.from_buffers(pa.binary(), rows, buffers), _unusual(states))


def _valid_bits(states: np.ndarray) -> pa.Buffer:
    return pa.py_buffer(np.packbits(states == kernels.VALUE, bitorder="little"))


def _unusual(states: np.ndarray) -> np.ndarray | None:
    unusual = states == kernels.UNUSUAL
    return unusual if unusual.any() else None


def merged(unusual: np.ndarray | None, more: np.ndarray) -> np.ndarray | None:
    """Return the rows of both masks; None if there are none."""
    if unusual is not None:
        more = more | unusual
    return more if more.any() else None


def number_values(numbers: np.ndarray, states: np.ndarray, arrow: pa.DataType) -> Values:
    """Return the values that a kernel made from literals, as an Arrow type: `numbers` are the values in memory,
    `states` those of literal_kernel."""
    array = pa.Array.from_buffers(arrow, len(states), [_valid_bits(states), pa.py_buffer(numbers)])
    return Values(array, _unusual(states))


def nulled(array: pa.Array, rows: np.ndarray) -> pa.Array:
    """Return the array with NULL in these rows (bool[n])."""
    return pc.if_else(pa.array(rows), pa.scalar(None, array.type), array) if rows.any() else array


def all_unusual(literals: Literals, arrow: pa.DataType) -> Values:
    """No values yet: all literals but NULL are read one by one."""
    return Values(pa.nulls(len(literals), arrow), literals.kinds != kind.NULL)
