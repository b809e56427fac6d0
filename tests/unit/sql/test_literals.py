"""Literals as values of a column's type."""

import pytest

from applier.schema.ddl.ddl import parse_statement
from applier.sql.literals import convert


@pytest.mark.parametrize(("kind", "least", "most"), [
    ("TINYINT", -128, 127), ("TINYINT UNSIGNED", 0, 255), ("SMALLINT", -32768, 32767), ("MEDIUMINT", -2**23, 2**23 - 1),
    ("INT UNSIGNED", 0, 2**32 - 1), ("BIGINT", -2**63, 2**63 - 1), ("BIGINT UNSIGNED", 0, 2**64 - 1)])
def test_integers_have_the_limits_of_their_type(kind, least, most):
    """AP-VAL: MySQL manual, "Integer Types"."""
    [made] = parse_statement(f"CREATE TABLE d.t (a {kind})")
    column_type = made.definition.column("a").type
    assert [convert(str(number), column_type, "mysql") for number in (least, most)] == [least, most]
    for number in (least - 1, most + 1):
        with pytest.raises(ValueError, match="out of the range"):
            convert(str(number), column_type, "mysql")
