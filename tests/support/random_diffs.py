"""Random documents and partial updates of them that mostly fit, and what the plain form makes of these."""

import random

from jsondiff import wire
from jsondiff.decode import decode
from jsondiff.diff import Diff, DiffError, Operation
from jsondiff.path import Cell, Member, Path
from jsondiff.text import to_text
from jsondiff.values import DocumentError, Unsigned

NAMES = ["a", "b", "c", "aa", "zz", "é", "a b", "", "$", 'q"uo\\te', "new\nline", "\x01", "日本", "long " * 10]
SCALARS = [None, True, 0, -5, 70000, 2**40, Unsigned(9), 1.0, 0.1, -1e20, "", "é\"\\\n", "x" * 60, "{[,", '": ']


def document(dice: random.Random, depth: int = 0):
    if depth < 2 or (depth < 6 and dice.random() < 0.3):
        if dice.random() < 0.4:
            return [document(dice, depth + 1) for _ in range(dice.randrange(7))]
        return {name: document(dice, depth + 1) for name in dice.sample(NAMES, dice.randrange(9))}
    return dice.choice(SCALARS)


def diff(dice: random.Random, value) -> Diff:
    """One that fits the document more often than not."""
    operation, legs = dice.choice(list(Operation)), []
    while isinstance(value, dict | list) and (not legs or dice.random() < 0.7):
        new = operation == Operation.INSERT and dice.random() < 0.5
        if isinstance(value, dict):
            names = [name for name in value if operation != Operation.INSERT or isinstance(value[name], dict | list)]
            legs.append(Member(dice.choice(NAMES if new or not names or dice.random() < 0.1 else names)))
            value = value.get(legs[-1].name)
        else:
            legs.append(Cell(dice.randrange(len(value) + 1 + (dice.random() < 0.05)), dice.random() < 0.3))
            value = value[legs[-1].position(len(value))] if legs[-1].index < len(value) else None
        if new:
            break
    return Diff(operation, Path(tuple(legs)), None if operation == Operation.REMOVE else document(dice, 3))


def chain(dice: random.Random, binary: bytes, values: int) -> list[bytes]:
    """Column values that follow from one another, up to the first that fails."""
    made: list[bytes] = []
    for _ in range(values):
        diffs, value = [], decode(binary)
        for _ in range(dice.choice((0, 1, 1, 1, 1, 2))):
            diffs.append(diff(dice, value))
        made.append(wire.encode(diffs))
        try:
            binary = wire.apply(binary, made[-1])
        except DiffError:
            if dice.random() < 0.8:
                made.pop()  # try another
            else:
                break
    return made


def outcome(binary: bytes | None, values: list[bytes]) -> tuple:
    """Return the result of the plain form for a document and a chain: (text or None, the value that fails or -1, the
    diff's number in it, MySQL's error number or 0)."""
    for index, data in enumerate(values):
        try:
            binary = wire.apply(binary, data)
        except DiffError as error:
            return None, index, error.number - 1, error.errno
        except DocumentError as error:  # the document that would come of it
            return None, index, None, error.errno
    return None if binary is None else to_text(decode(binary)), -1, -1, 0
