"""Documents of JSON that somebody changed: for tests that what reads them says so, or can work with them."""

import copy
from collections.abc import Iterator
from typing import Any

import orjson
from hypothesis import strategies as st

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=9)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2**63, 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS | st.sampled_from(["../x", "/etc/passwd", "s3://a/b", "bytes"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3), max_leaves=4)


def _nodes(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all values in a document."""
    yield path
    for name in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield from _nodes(value[name], (*path, name))


@st.composite
def mutants(draw: Any, document: Any, damaged: bool = True) -> bytes:
    """The document's text with one value deleted or replaced by any other; where `damaged` is set some also with bytes
    cut out or put in, so that it may be no JSON or no UTF-8."""
    document = copy.deepcopy(document)
    path = draw(st.sampled_from(list(_nodes(document))))
    if path:
        holder = document
        for step in path[:-1]:
            holder = holder[step]
        if draw(st.booleans()):
            del holder[path[-1]]
        else:
            holder[path[-1]] = draw(_VALUES)
    text = orjson.dumps(document)
    if damaged and draw(st.integers(0, 3)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.binary(max_size=3)) + text[at + draw(st.integers(0, 30)):]
    return text
