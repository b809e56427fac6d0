"""What lines of JSON are made of."""

import json

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from applier.jobs.json_lines.steps import AFTER, BEFORE, LINE, QUOTED, Steps, cells_of

TEXTS = st.lists(st.none() | st.text(st.characters(max_codepoint=0x2FF), max_size=80), min_size=1)


@given(TEXTS, st.integers(0, 3))
def test_texts_come_back(texts, skipped):
    """Of any length and with any character, also where a column is a part of a longer one."""
    cells = cells_of(QUOTED, pa.array([*["x" * 40] * skipped, *texts], pa.string())[skipped:])
    lines = np.zeros(len(texts), LINE)
    lines["row"] = np.arange(len(texts))
    text, ends = Steps().text("{").value("t", 0, QUOTED, last=True).text("}\n").write(lines, [cells])
    assert [json.loads(line) for line in text.tobytes().splitlines()] == [{"t": value} for value in texts]
    assert ends[-1] == len(text) and all(text[end - 1] == ord("\n") for end in ends)


def test_members_that_a_row_does_not_have_are_left_out():
    """And the object of a row that does not exist is null."""
    columns = [cells_of(QUOTED, pa.array(["a", None])), cells_of(QUOTED, pa.array(["b", "c"]))]
    columns[0].leave_out(np.array([True, False]))
    lines = np.array([(0, 0, 0, -1), (0, 0, 1, 0)], LINE)
    members = [("x", 0, QUOTED), ('"', 1, QUOTED)]
    steps = Steps().image(BEFORE, members).text(" ").image(AFTER, members).text("\n")
    assert steps.write(lines, columns)[0].tobytes() == b'{"\\"":"b"} null\n{"x":null,"\\"":"c"} {"\\"":"b"}\n'


def test_a_member_of_the_line_may_be_left_out():
    """Also behind an object that is empty, and in a line that is about no row before or after."""
    cells = cells_of(QUOTED, pa.array(["a", None, "c"]))
    cells.leave_out(np.array([False, False, True]))
    lines = np.array([(0, row, row - 1, -1) for row in range(3)], LINE)
    steps = Steps().text('{"o":').image(BEFORE, []).member("m", 0, QUOTED).text("}\n")
    assert steps.write(lines, [cells])[0].tobytes() == b'{"o":null,"m":"a"}\n{"o":{},"m":null}\n{"o":{}}\n'
