"""Documents for tests: those that a real server stored (record_documents.py), and any that could be."""

import gzip
import json

from hypothesis import strategies as st

from jsondiff.decode import decode
from jsondiff.values import Opaque, Unsigned
from tests.support.folders import RECORDED

FOLDER = RECORDED / "jsondiff"


def recorded(name: str) -> list:
    """The lines of a recorded file."""
    return [json.loads(line) for line in gzip.open(FOLDER / f"{name}.jsonl.gz")]


RECORDED = [(bytes.fromhex(document), text) for document, text in recorded("server_documents")]
"""Binary documents out of a MySQL 9.7 server's binlog, and the text that it prints for each."""

UPDATED_IN_PLACE = '{"key4": [4, 2.0000], "key5": 5,'
"""How the text of the one begins that an UPDATE took members from: their bytes are still in it."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
def _containers(inner):
    return st.lists(inner) | st.dictionaries(TEXT, inner)


def opaque_values(value) -> list[Opaque]:
    """All opaque values in a document."""
    if isinstance(value, Opaque):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [opaque for part in parts for opaque in opaque_values(part)]


OPAQUE = [opaque for document, _ in RECORDED for opaque in opaque_values(decode(document))]
"""DECIMALs, dates, times and what else the server recorded."""

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.integers(0, 2**64 - 1).map(Unsigned)
    | DOUBLES
    | TEXT
    | st.sampled_from(OPAQUE),
    _containers,
    max_leaves=30,
)
"""Documents of all types."""
