"""Numbers beyond 64 bits, and of MariaDB's addresses: what real servers made of them."""

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType, arrow_type
from applier.sql.assignment.conversion import assigned
from applier.sql.casting.values import convert_values
from applier.sql.evaluator import evaluate

MYSQL, MARIADB = Session("mysql"), Session("mariadb")
UNSIGNED, SIGNED = ColumnType("bigint", unsigned=True), ColumnType("bigint")
LARGE = [1e19, 1.8446744073709552e19, 18446744073709547520.0, 2.0**63, -1e19, 1e30, -1.0, 9223372036854773760.0, None,
         2.5]


def made(sql, wanted, session, values):
    columns = {"f": (pa.array(values, pa.float64()), ColumnType("double"))}
    return assigned(evaluate(sql, columns.__getitem__, len(values), session), wanted, session).to_pylist()


@pytest.mark.parametrize("session", [MYSQL, MARIADB])
@pytest.mark.parametrize("sql", ["f", "f * 1"])
def test_doubles_of_expressions_as_whole_numbers(sql, session):
    """9.7, 10.5, 10.11 and 11.8: an unsigned number has all its bits."""
    assert [int(one) if one is not None else None for one in made(sql, UNSIGNED, session, LARGE)] == [
        10**19, 2**64 - 1, 18446744073709547520, 2**63, 0, 2**64 - 1, 0, 9223372036854773760, None, 2]
    assert made(sql, SIGNED, session, LARGE) == [
        *[2**63 - 1] * 4, -2**63, 2**63 - 1, -1, 9223372036854773760, None, 2]


@pytest.mark.parametrize("session", [MYSQL, MARIADB])
@pytest.mark.parametrize("sql", ["g", "g * 1"])
def test_floats_of_expressions_as_whole_numbers(sql, session):
    """9.7, 10.5, 10.11 and 11.8: as doubles, also those of a column alone."""
    values = [1e19, -3e20, 1.8e19, 2e19, 2.5, None]

    def held(wanted):
        column = pa.array(values, pa.float32()), ColumnType("float")
        return [None if one is None else int(one) for one in assigned(
            evaluate(sql, {"g": column}.__getitem__, len(values), session), wanted, session).to_pylist()]

    assert held(UNSIGNED) == [9999999980506447872, 0, 18000000404716257280, 2**64 - 1, 2, None]
    assert held(SIGNED) == [2**63 - 1, -2**63, 2**63 - 1, 2**63 - 1, 2, None]


@pytest.mark.parametrize(("session", "expected"), [
    (MYSQL, [1.584962500721156, 3.321928094887362, 3.0, None]),
    (MARIADB, [1.5849625007211563, 3.3219280948873626, 3.0, None])])
def test_the_binary_logarithm(session, expected):
    """9.7 has a function of its own for it, and 10.5, 10.11 and 11.8 divide."""
    assert made("LOG2(f)", ColumnType("double"), session, [3.0, 10.0, 8.0, -1.0]) == expected


@pytest.mark.parametrize("session", [MYSQL, MARIADB])
def test_copied_doubles_have_a_sign_in_between(session):
    """ALTER TABLE … MODIFY on 9.7, 10.5, 10.11 and 11.8."""
    copied = convert_values(pa.array(LARGE, pa.float64()), ColumnType("double"), UNSIGNED, session)
    assert [None if one is None else int(one) for one in copied.to_pylist()] == [
        *[2**63 - 1] * 4, 0, 2**63 - 1, 0, 9223372036854773760, None, 2]


def test_the_largest_double_of_64_bits_is_another_number_on_mysql():
    """9.7 makes 9223372036854775807 of 9223372036854774784, and MariaDB does not."""
    for value, wanted in ((9223372036854774784.0, SIGNED), (18446744073709549568.0, UNSIGNED)):
        assert made("f * 1", wanted, MARIADB, [value]) == [int(value)]
        with pytest.raises(NotComputable):
            made("f * 1", wanted, MYSQL, [value])
    with pytest.raises(NotComputable):
        convert_values(pa.array([9223372036854774784.0]), ColumnType("double"), SIGNED, MYSQL)


@pytest.mark.parametrize("session", [MYSQL, MARIADB])
def test_the_bits_of_doubles_beyond_a_bigint_depend_on_the_processor(session):
    with pytest.raises(NotComputable, match="as BIT"):
        made("f * 1", ColumnType("bit", length=64), session, [1e19])
    assert made("f * 1", ColumnType("bit", length=8), session, [3.0]) == [3]


@pytest.mark.parametrize(("base", "texts", "wanted", "expected"), [
    ("inet4", ["1.2.3.4", "10.200.0.1", "12.0.0.0"], SIGNED, [12, 10200, 120]),
    ("inet6", ["::1", "12::34", "1e2::"], UNSIGNED, [0, 12, 100]),
    ("uuid", ["12345678-1111-1111-1111-111111111111", "1e234567-1111-1111-1111-111111111111"], SIGNED,
     [12345678, 2**63 - 1]),
    ("inet4", ["1.2.3.4", "255.255.255.255"], ColumnType("double"), [1.2, 255.255]),
    ("inet4", ["0.0.0.0", "10.0.0.1"], ColumnType("bit", length=64), [0x302E302E302E30, 0x31302E302E302E31]),
    ("inet4", ["0.0.0.0"], ColumnType("bit", length=8), [255])])
def test_addresses_are_numbers_by_their_text(base, texts, wanted, expected):
    """MariaDB 10.11 and 11.8: as text, and the first point of two is none in a whole number."""
    old = ColumnType(base)
    values = pa.array(texts, arrow_type(old))
    found = convert_values(values, old, wanted, MARIADB).to_pylist()
    assert [type(one)(got) for one, got in zip(expected, found, strict=True)] == expected
