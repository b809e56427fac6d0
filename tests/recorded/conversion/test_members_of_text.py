"""Text that becomes ENUM or SET, above all numbers in it: what both servers made of it (record_members.py)."""

import gzip
import json

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import arrow_type
from applier.schema.ddl.ddl import parse_statement
from applier.sql.casting.values import convert_values
from tests.recorded.conversion.record_members import MEMBERS, TEXTS, WIDE

LINES = [json.loads(line) for line in gzip.open(MEMBERS, "rt")]


def kind_of(text, flavour):
    [change] = parse_statement(f"CREATE TABLE d.t (v {text})", flavour=flavour)
    return change.definition.columns[0].type


def converted(texts, line):
    before, after = (kind_of(line[side], line["flavour"]) for side in ("before", "after"))
    held = [text.rstrip(" ") if before.base == "char" else text for text in texts]
    values = pa.array(held).cast(arrow_type(before))
    return convert_values(values, before, after, Session(line["flavour"])).to_pylist()


def is_wide(line):
    return any(charset in line[side] for side in ("before", "after") for charset in WIDE)


@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_members_are_those_of_the_server(flavour):
    lines = [line for line in LINES if line["flavour"] == flavour and not is_wide(line)]
    wrong = [(line["before"], line["after"], text, expected, found) for line in lines
             for text, expected, found in zip(TEXTS, line["found"], converted(TEXTS, line), strict=True)
             if found != expected]
    assert len(lines) == 99 and not wrong


@pytest.mark.thorough
@pytest.mark.parametrize("flavour", ["mysql", "mariadb"])
def test_numbers_in_wide_character_sets_are_exact_or_refused(flavour):
    """Servers read some of them byte by byte. All else is computed, and right."""
    lines, refused = [line for line in LINES if line["flavour"] == flavour and is_wide(line)], 0
    for line in lines:
        for text, expected in zip(TEXTS, line["found"], strict=True):
            try:
                assert converted([text], line) == [expected], (line["before"], line["after"], text)
            except NotComputable:
                assert any(character.isdecimal() for character in text) or line["before"] in ("VARBINARY(30)", "BLOB")
                refused += 1
    assert len(lines) > 100 and 0 < refused < 1000
