"""JSON from outside as dataclasses: each value has its field's type, or an error says where it does not."""

from dataclasses import dataclass
from typing import Literal

import pytest

from applier.io.typed_json import Count, Mismatch, Seconds, build, plain


@dataclass(frozen=True)
class File:
    path: str
    rows: Count
    kind: Literal["base", "changes", 1] = "base"
    parts: tuple[tuple[str, int], ...] = ()
    at: Seconds | None = None


_FILE = {"path": "a", "rows": 3, "kind": "changes", "parts": [["p", 1]], "at": None}


def test_what_was_built_is_plain_again():
    built = build(File, _FILE)
    assert built == File("a", 3, "changes", (("p", 1),)) and build(File, plain(built)) == built
    assert build(File, {"path": "a", "rows": 0}) == File("a", 0)


@pytest.mark.parametrize(("changed", "says"), [
    ({"kind": "other"}, "kind is 'other', not one of base, changes, 1"),
    ({"kind": True}, "kind is true, not one of base, changes, 1"),
    ({"kind": 1.0}, "kind is 1.0, not one of base, changes, 1"),
    ({"rows": -1}, f"rows is -1, which is not from 0 to {2**63 - 1}"),
    ({"rows": True}, "rows is"), ({"rows": 1.0}, "rows is"), ({"path": None}, "path is"),
    ({"parts": [["p", 1], ["q"]]}, "parts[1] "), ({"parts": [["p", "1"]]}, "parts[0][1] "),
    ({"at": 253402300800}, "at is"), ({"size": 1}, "size")])
def test_a_value_of_another_type_is_named_with_its_path(changed, says):
    with pytest.raises(Mismatch) as caught:
        build(File, _FILE | changed)
    assert says in str(caught.value)
