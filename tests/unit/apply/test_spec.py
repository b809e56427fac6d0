"""What a unit is, and what a task answers."""

import pytest

from applier.apply.spec import Altered, FromBase, KeyRange, UnitSpec
from applier.apply.tasks import Applied, PlanAgain, Refused, UnitResult, outcome_of
from applier.columns.table_key import table_key
from applier.errors import ReplayStopped
from applier.schema.ddl.ddl import parse_statement
from applier.schema.history.conversion import RowConversion
from applier.snapshot.files.file_entries import FileEntry


def made(columns):
    [change] = parse_statement(f"CREATE TABLE d.t ({columns})", server_charset="utf8mb4")
    return change.definition


INT, TEXT = made("id BIGINT PRIMARY KEY"), made("id VARBINARY(9) PRIMARY KEY")
RESULT = UnitResult(0, 1, 0, 0, 0, None)


def test_a_range_is_of_its_keys_kind():
    assert KeyRange(table_key(INT), None, 7).bounds == [7] and KeyRange(table_key(TEXT), b"a").bounds == [b"a"]
    for key, bound in ((table_key(INT), b"a"), (table_key(TEXT), 7)):
        with pytest.raises(ValueError, match="is not a range of PRIMARY"):
            KeyRange(key, bound)


def test_the_bases_files_are_those_of_the_first_version():
    """They are carried over under the last one where no change is in a unit's range."""
    file = FileEntry("d/t/part-0.parquet", 1, 1, 1, 1)
    first = UnitSpec(number=0, version=0, definition=INT, search=KeyRange(table_key(INT)), target=None,
                     origin=FromBase(uri="base", files=(file,)))
    conversion = RowConversion(INT, INT, (0,))
    last = UnitSpec(number=0, version=1, definition=INT, search=KeyRange(table_key(INT)), target=None,
                    origin=Altered(unit=first, conversion=conversion))
    assert last.base_files == (file,)
    assert last.chain == [first, last] and [source.conversion for source in last.sources] == [conversion]


def test_units_that_must_be_planned_again_come_before_what_was_refused():
    """APP-R7: what a row did that moved is unknown, so that what stopped beside it may not have had to."""
    refused, again = Refused(errors=(ReplayStopped("no"),)), PlanAgain(tables=frozenset(["d.t"]))
    assert outcome_of([Applied(results=(RESULT,)), refused, again, PlanAgain(tables=frozenset(["d.u"]))]) == \
        PlanAgain(tables=frozenset(["d.t", "d.u"]))
    assert outcome_of([Applied(results=(RESULT,)), refused]) == refused
    assert outcome_of([Applied(results=(RESULT,)), Applied(results=(RESULT,))]) == Applied(results=(RESULT, RESULT))
