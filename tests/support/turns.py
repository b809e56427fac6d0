"""Which of many tests of one kind `make test` runs: all but those that get the marker `thorough` here or by hand.

`@pytest.mark.by_turns("route", "engine")` says of a test with parameters: each case runs every day in one combination
of these parameters, the next one for the next case; a case is what the other parameters say. `one_in=3`: only the
first of three cases that follow each other runs every day. The first case of a module's next
function runs in the next way, too. All depends on the order of tests alone.

Tests with a parameter `route` take turns without being marked: each case by one route.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import pytest

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""In a session's config: all tests that were collected, before any was deselected."""
WAYS = ("route",)
"""Parameters that say how a result is reached, and not which one."""


_PAIRS = [(("walk", "spark"), ("shuffle", "local")), (("shuffle", "spark"), ("walk", "local")),
          (("shuffle", "local"), ("walk", "spark")), (("walk", "local"), ("shuffle", "spark"))]


def by_route_and_engine(names: Iterable[str]) -> pytest.MarkDecorator:
    """Parameters `name`, `route` and `engine` of a test that is marked `by_turns("route", "engine")`: two tests of each
    case, so that it has both routes and both engines; the next case has each route on the other engine. Every day four
    cases that follow each other have all four combinations."""
    return pytest.mark.parametrize(("name", "route", "engine"), [
        (name, *way) for number, name in enumerate(names) for way in _PAIRS[number % len(_PAIRS)]])


def mark_thorough(items: Iterable[pytest.Item]) -> None:
    """Give the marker `thorough` to the tests that are not of every day by their marker `by_turns`."""
    functions: dict[str, list[tuple[pytest.Item, pytest.Mark]]] = defaultdict(list)
    for item in items:
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        turns = item.get_closest_marker("by_turns")
        if turns is None and (ways := [name for name in WAYS if name in parameters]):
            turns = pytest.mark.by_turns(*ways).mark
        if turns is not None:
            functions[item.nodeid.partition("[")[0]].append((item, turns))
    modules: Counter[str] = Counter()
    for function, tests in functions.items():
        cases: dict[str, list[pytest.Item]] = defaultdict(list)
        for item, turns in tests:
            parameters: dict[str, object] = item.callspec.params if hasattr(item, "callspec") else {}
            case = {name: value for name, value in parameters.items() if name not in turns.args}
            cases[repr(sorted(case.items()))].append(item)
        one_in, first = turns.kwargs.get("one_in", 1), modules[module := function.partition("::")[0]]
        for number, ways in enumerate(cases.values()):
            for turn, item in enumerate(ways):
                if number % one_in or turn != (first + number // one_in) % len(ways):
                    item.add_marker("thorough")
        modules[module] += 1
