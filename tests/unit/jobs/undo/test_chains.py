"""The chains of rows' steps are those that following each row by hand gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from applier.jobs.history.commits import NEVER
from applier.jobs.undo.trace.chains import RowSteps, chains


@st.composite
def logs(draw):
    """Steps of some rows, in order: each makes a row, changes one, moves it to the other unit, or ends it."""
    rows, made, steps, moves = [(unit, pointer) for unit in (0, 1) for pointer in range(3)], 100, [], 0
    for commit in range(draw(st.integers(0, 12))):
        chosen = draw(st.booleans())
        for _ in range(draw(st.integers(0, 3))):
            kind, made = draw(st.sampled_from(["insert", "update", "delete", "move"])), made + 1
            row = None if kind == "insert" or not rows else rows.pop(draw(st.integers(0, len(rows) - 1)))
            if row is None:
                unit = draw(st.integers(0, 1))
                steps.append((unit, -1, made, commit, chosen, -1))
                rows.append((unit, made))
            elif kind == "update":
                steps.append((*row, made, commit, chosen, -1))
                rows.append((row[0], made))
            elif kind == "delete":
                steps.append((*row, -1, commit, chosen, -1))
            else:
                moves += 1
                steps += [(*row, -1, commit, chosen, moves), (1 - row[0], -1, made, commit, chosen, moves)]
                rows.append((1 - row[0], made))
    return steps


def by_hand(steps):
    """Of each row that a chosen step touched: what was before the first one, what is there now, its number, and the
    last commit by others since."""
    known, ways = {}, []
    for number, (unit, old, new, _, _, move) in enumerate(steps):
        moved = move >= 0 and old < 0
        way = known.pop(move, None) if moved else known.pop((unit, old), None) if old >= 0 else None
        if way is None:
            ways.append(way := [])
        way.append(number)
        known[move if new < 0 else (unit, new)] = way
    found = []
    for way in ways:
        first = next((place for place, number in enumerate(way) if steps[number][4]), None)
        if first is not None:
            later = [steps[number][3] for number in way[first:] if not steps[number][4]]
            begin, end = steps[way[first]], steps[way[-1]]
            found.append((way[first], begin[0], begin[1], end[0], end[2], later[-1] if later else NEVER))
    return [(*row[1:5], row[0], row[5]) for row in sorted(found)]


@given(logs())
def test_chains_are_what_following_each_row_gives(steps):
    columns = [*(zip(*steps, strict=True) if steps else [()] * 6), [-1] * len(steps)]
    kinds = (np.int32, np.int64, np.int64, np.int64, np.bool_, np.int64, np.int64)
    made = chains(RowSteps(*(np.array(column, kind) for column, kind in zip(columns, kinds, strict=True))))
    assert [*zip(made.before_units.tolist(), made.before.tolist(), made.now_units.tolist(), made.now.tolist(),
                 made.first.tolist(), made.last_later.tolist(), strict=True)] == by_hand(steps)
