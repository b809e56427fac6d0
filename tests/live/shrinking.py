"""The fewest statements of a history that still show what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence


def fewest(statements: Sequence[str], shows: Callable[[list[str]], bool]) -> list[str]:
    """Leave out statements, and then parts between their commas, as long as `shows` is true of what is left."""
    left = _shortest_beginning(list(statements), shows)
    size = max(1, len(left) // 2)
    while True:
        start, before = len(left), len(left)
        while start > 0:
            start = max(0, start - size)
            trial = left[:start] + left[start + size:]
            if trial != left and shows(trial):
                left = trial
        if size > 1:
            size //= 2
        elif len(left) == before:
            break
    for number in range(len(left)):
        progress = True
        while progress:
            progress = False
            for text in _with_less(left[number]):
                trial = [*left[:number], text, *left[number + 1:]]
                if shows(trial):
                    left, progress = trial, True
                    break
    return left


def _shortest_beginning(statements: list[str], shows: Callable[[list[str]], bool]) -> list[str]:
    """The first statements up to the one that shows it, by halves."""
    low, high = 0, len(statements)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(statements[:middle]) else (middle, high)
    return statements[:high]


def _with_less(statement: str) -> Iterator[str]:
    """The statement without one of the parts that commas divide, at any depth."""
    depth, quote, begins = 0, "", {0: 0}
    for place, letter in enumerate(statement):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'`\"":
            quote = letter
        elif letter == "(":
            depth += 1
            begins[depth] = place + 1
        elif letter in "),":
            if letter == ",":
                yield statement[:begins[depth]] + statement[place + 1:]
            elif statement[:begins[depth] - 1].count(",") != statement[:place].count(","):
                cut = statement.rfind(",", begins[depth], place)
                yield statement[:cut] + statement[place:] if cut > 0 else statement
            depth, begins[depth] = depth - (letter == ")"), place + (letter == ",")
            begins[max(depth, 0)] = place + 1 if letter == "," else begins.get(depth, 0)
    cut = statement.rfind(",")
    if cut > 0 and depth == 0:
        yield statement[:cut]
