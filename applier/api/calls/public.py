"""The decorator of verbs' functions: it checks their arguments, and documents them from the registry of options."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from functools import wraps
from typing import ParamSpec, TypeVar

from applier.api.calls.checked import checked
from applier.api.wording import noted
from applier.options.option import REQUIRED, Option, Verb

P = ParamSpec("P")
R = TypeVar("R")
ARGUMENTS = "{arguments}"
"""The placeholder in a docstring for the documented arguments."""
_COLUMNS = 112


def public(verb: Verb) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator for a verb's function. `docs/write_python.py` generates the signature."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        if function.__doc__:
            arguments = textwrap.indent("\n".join(_described(verb)), "    ").strip()
            function.__doc__ = function.__doc__.replace(ARGUMENTS, arguments)
        function = checked(function, {option.name: option.flag for option in verb.given if option.flag})

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            return noted(function(*args, **kwargs))

        return call

    return decorate


def parameters(verb: Verb) -> Iterator[str]:
    """Yield the parameters of a verb's function as source text."""
    for number, option in enumerate(verb.in_python):
        if number == verb.positional:
            yield "*"
        yield f"{option.name}: {option.annotation}{_default(option)}"
    if any(option.name == "keys" for option in verb.options):
        yield "**flat: Unpack[KeyNames]"


def _default(option: Option) -> str:
    if option.default is REQUIRED:
        return ""
    text = f'"{option.default}"' if isinstance(option.default, str) else repr(option.default)
    return f" = {text}"


def _described(verb: Verb) -> Iterator[str]:
    """Yield a description of each argument; arguments shared with another verb are listed by name."""
    known = set(verb.like.options) if verb.like is not None else set()
    same = [option.name for option in verb.in_python if option in known and option.name != "progress"]
    for option in verb.in_python:
        if option.name not in same:
            yield textwrap.fill(f"{option.name}: {verb.in_python_words(option)}", _COLUMNS, subsequent_indent="    ",
                                break_on_hyphens=False, break_long_words=False)
    if same and verb.like is not None:
        yield textwrap.fill(f"{', '.join(same)}: as of `{verb.like.name}`.", _COLUMNS)
