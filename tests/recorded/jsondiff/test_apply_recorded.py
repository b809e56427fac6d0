"""Diffs applied to columns of text, against what a MySQL 9.7 server logged, applied and refused: record_diffs.py."""

from collections import Counter

from jsondiff.apply import explain
from tests.recorded.jsondiff.test_server_diffs import CORRUPTED_DIFF, recorded
from tests.unit.jsondiff.test_apply import applied


def test_partial_updates_lead_to_what_the_source_has():
    lines = recorded("server_updates")
    result = applied([before for _, before, _, _ in lines], [[bytes.fromhex(diffs)] for _, _, diffs, _ in lines])
    assert not result.codes.any() and (result.failed == -1).all() and (result.numbers == -1).all()
    assert result.texts.to_pylist() == [after for *_, after in lines]


def test_any_diffs_have_the_outcome_of_the_servers_replication():
    """JD-SAFE1, JD-SAFE2, JD-NULL, JD-DIV. Where the server could put a value instead of an equal one without writing
    the document again, it refuses to; here that is no error."""
    lines = recorded("server_replica")
    result = applied([before for before, _, _ in lines], [[bytes.fromhex(diffs)] for _, diffs, _ in lines])
    outcomes = Counter()
    for row, (_, diffs, outcome) in enumerate(lines):
        text, code = result.texts[row].as_py(), result.codes[row]
        if isinstance(outcome, str):
            assert (text, code) == (outcome, 0)
            outcomes["applied"] += 1
        elif outcome == 3648 and text is not None:
            outcomes["same"] += 1
        else:
            outcomes[outcome] += 1
            assert text is None and result.failed[row] == row and result.numbers[row] >= 0
            assert explain(code)[0] in ((1610, outcome) if outcome == CORRUPTED_DIFF else (outcome,)), diffs
    assert outcomes["applied"] > 1000 and outcomes[3648] > 500 and outcomes[CORRUPTED_DIFF] > 100
    assert outcomes["same"] < 20
