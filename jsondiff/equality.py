"""Whether two documents are equal to SQL's = (Json_wrapper::compare in MySQL's sql-common/json_dom.cc; rule JD-EQ)."""

from decimal import Decimal

from jsondiff.values import DATE, DATETIME, TIME, TIMESTAMP, Document, Opaque


def equal(a: Document, b: Document) -> bool:
    """Return whether MySQL takes two documents to be equal.

    Numbers of all types compare by value, where a double has the value of its shortest digits: 0.1 equals the DECIMAL
    0.10, but 9223372036854775808 is not the double 9.223372036854775808e18, whose digits are 9223372036854776000.
    DATETIME and TIMESTAMP compare by value, other types only with their own: true is not 1, and bytes are not a string.
    """
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(equal(value, b[key]) for key, value in a.items())
    return type(b) not in (list, dict) and _comparable(a) == _comparable(b)


def _comparable(scalar: Document) -> tuple[object, object]:
    """A scalar's family, and the value by which it compares in that."""
    if scalar is None or isinstance(scalar, bool | str):
        return type(scalar), scalar
    if isinstance(scalar, int):
        return Decimal, Decimal(scalar)
    if isinstance(scalar, float):
        return Decimal, Decimal(repr(scalar))
    if not isinstance(scalar, Opaque):
        raise TypeError(f"{type(scalar).__name__} is no type of JSON documents")
    if scalar.is_number:
        return Decimal, Decimal(scalar.text())
    if scalar.kind in (DATETIME, TIMESTAMP):
        return DATETIME, scalar.text()
    return scalar.kind, scalar.text() if scalar.kind in (DATE, TIME) else scalar.data
