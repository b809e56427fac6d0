"""Documents, paths and diffs for property tests."""

from hypothesis import strategies as st

from jsondiff.diff import Diff, Operation
from jsondiff.path import Cell, Member, Path
from jsondiff.values import Opaque, Unsigned

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
few_names = st.sampled_from(["a", "b", "c", "é", "a b", ""])
opaques = st.builds(Opaque, st.sampled_from([15, 16, 252, 255]), st.binary(max_size=9)) | st.sampled_from(
    [Opaque(246, bytes([4, 2, 0x80 + 11, 32])), Opaque(10, bytes.fromhex("0000000000bab219"))]  # 11.32, 2024-02-29
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 2**64 - 1).map(Unsigned)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
    | opaques
)


def nested(names: st.SearchStrategy, leaves: st.SearchStrategy, most: int) -> st.SearchStrategy:
    return st.recursive(
        leaves, lambda part: st.lists(part, max_size=5) | st.dictionaries(names, part, max_size=5), max_leaves=most
    )


values = nested(text, scalars, 8)
documents = nested(text | few_names, scalars, 30)
alike = nested(few_names, st.sampled_from([None, True, 1, 1.0, Unsigned(1), "1", 0.0, -0.0]), 30)
"""Documents that have much in common."""

legs = st.builds(Member, text | few_names) | st.builds(Cell, st.integers(0, 6) | st.just(2**32 - 1), st.booleans())
paths = st.lists(legs, max_size=5).map(lambda parts: Path(tuple(parts)))
diffs = st.builds(Diff, st.just(Operation.REMOVE), paths) | st.builds(
    Diff, st.sampled_from([Operation.REPLACE, Operation.INSERT]), paths, values
)
