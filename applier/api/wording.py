"""Errors and notes that come out of functions name arguments as Python does. They are written as for the command
line."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, cast

from applier.errors import word_in_python, worded
from applier.options import verbs
from applier.options.option import Option, Verb, with_python_names

R = TypeVar("R")


def noted(result: R) -> R:
    """Return a job's result, with notes that name options as the caller knows them."""
    notes = getattr(result, "notes", None) if is_dataclass(result) else None
    return cast("R", replace(cast("Any", result), notes=tuple(map(worded, notes)))) if notes else result


@cache
def _python_names() -> dict[str, tuple[str, Option]]:
    """Return the Python names of options, by their names on the command line. An error does not know which function
    was called: of names that differ, the first verb's is taken."""
    known: dict[str, tuple[str, Option]] = {}
    for verb in (one for one in vars(verbs).values() if isinstance(one, Verb) and one not in (verbs.SHOW, verbs.INDEX)):
        known = verb.python_names | known
    return known


word_in_python(lambda text: with_python_names(text, _python_names()))
