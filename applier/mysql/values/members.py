"""Which member of an ENUM or SET a label is: the member that the column's collation takes as equal, if trailing spaces
count."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.types import ColumnType
from keysearch.collation import collation_of, equality_keys, is_exact


def numbers_of(labels: pa.Array, kind: ColumnType, flavour: str) -> dict[str, int]:
    """The index of the first member that equals each of these labels; labels that match none are left out. Raises
    NotComputable if a label equals no member byte for byte but may equal one by a collation that is unknown."""
    collation = collation_of(kind.collation or "binary", flavour)
    charset, _, rest = collation.partition("_")
    members = pa.array(kind.members, pa.string())
    if not is_exact(collation):
        if not pc.all(pc.is_in(labels, members)).as_py():
            raise NotComputable(f"which labels are the same by {collation}")
        collation, rest = "binary", ""
    keys = equality_keys(pa.concat_arrays([members, labels]), f"{charset}_nopad_{rest}" if rest else collation)
    coded = keys.to_arrow().dictionary_encode().indices.to_numpy()
    numbers = {code: number for number, code in reversed(list(enumerate(coded[:len(members)].tolist())))}
    return {label: numbers[code] for label, code in zip(labels.to_pylist(), coded[len(members):].tolist(), strict=True)
            if code in numbers}
