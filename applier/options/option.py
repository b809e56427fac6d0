"""What an option is: one value, from which the command line, its pages, the Python API and its checks are made."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, Final

from applier.errors import UsageError

GROUPS = READ, COMPARE, FIND, MAKE, BOUNDS, ROWS, TRANSACTIONS, RUN, ADVANCED = (
    "What to read", "What to compare with", "What to find", "What to make", "Where to start and stop",
    "Which tables and rows", "Which transactions", "Where it runs", "Advanced")
"""The groups of --help, in order: what options ask."""
REQUIRED: Final = ...
_SAME: Final = object()
_order = itertools.count()
_FLAG = re.compile(r"(`[^`]*`)|(?<![\w-])--[a-z][a-z-]*[a-z]")
"""A name of an option in a text, or what stands in backticks there."""


class Where(Enum):
    """Where an option can be given."""

    EVERYWHERE = "everywhere"
    COMMAND_LINE = "command line"
    PYTHON = "Python"


@dataclass(frozen=True, eq=False)
class Kind:
    """A type of values.

    In Python it is `annotation`. On the command line a value looks like `value`, has the type `typed`, and may be given
    several times if it is `many`, of which `several` tells people. `parse` makes the value for Python of it, None: it
    is one. `check` raises UsageError for a value that a job does not take, given the option's name on the command line;
    `recorded` makes JSON for a manifest of it, None: nothing is recorded.
    """

    annotation: str
    value: str = ""
    parse: Callable[[Any], Any] | None = None
    many: bool = False
    several: str = ""
    typed: type = str
    choices: tuple[str, ...] = ()
    least: int | None = None
    check: Callable[[str, Any], None] | None = None
    recorded: Callable[[Any], object] = lambda value: value


@dataclass(frozen=True, eq=False)
class Option:
    """An option of verbs.

    `name` is its name in Python, and with dashes on the command line, unless `flags` has other names, of which the
    first is shown and the others are old; `off` is a flag's opposite. `default` is REQUIRED, or the value where it is
    not given, on the command line `command_default` if that is another one. `text` says what it does, `python` says it
    of the argument where that is more or other than the command line has. It has a line on the first screen of --help
    if it comes `first`. An argument of the command line has no name there; one that is `hidden` is an old way to give
    something else. An option with `parts` is one value in Python, which the command line takes as these: `combine`
    makes it of those that are given, None: it is one of them. `field` is the field of a job's options that it becomes;
    a snapshot's manifest records it if it is `recorded` and not at its default, or `always`.
    """

    name: str
    kind: Kind
    group: str
    text: str = ""
    default: Any = None
    command_default: Any = _SAME
    python: str | None = None
    value: str = ""
    flags: tuple[str, ...] = ()
    off: str = ""
    first: bool = False
    is_argument: bool = False
    hidden: bool = False
    where: Where = Where.EVERYWHERE
    parts: tuple[Option, ...] = ()
    combine: Callable[..., Any] | None = None
    field: str = ""
    recorded: bool = False
    always: bool = False
    order: int = dataclasses.field(default_factory=_order.__next__)

    def of(self, text: str | None = None, **changes: Any) -> Option:
        """This option as a verb has it: with another text, value or default."""
        if text is not None:
            changes = {"text": text, "python": None} | changes
        return replace(self, **changes)

    def and_(self, sentence: str) -> Option:
        """This option with one more sentence that is true for a verb."""
        return replace(self, text=f"{self.text} {sentence}", python=self.python and f"{self.python} {sentence}")

    @property
    def flag(self) -> str:
        """Its name on the command line, with dashes; of an argument ""."""
        return "" if self.is_argument else self.names[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Its names on the command line, the one that is shown first."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def shown_value(self) -> str:
        """What a value looks like on the command line."""
        if self.kind.typed is bool:
            return f"/ {self.off}" if self.off else ""
        return self.value or self.kind.value or "|".join(self.kind.choices) or "N"

    @property
    def on_command_line(self) -> Any:
        """The default on the command line: REQUIRED, or a value as people write it."""
        return self.default if self.command_default is _SAME else self.command_default

    @property
    def help(self) -> str:
        """What the command line says of it."""
        return f"{self.text} {self.kind.several}".strip()

    @property
    def full_help(self) -> str:
        """What the command line says of it, with its default."""
        default = self.on_command_line
        return self.help + (f" By default {default}." if default not in (REQUIRED, None, False, "", (), []) else "")

    @property
    def annotation(self) -> str:
        """Its type in Python."""
        return f"{self.kind.annotation} | None" if self.default is None else self.kind.annotation

    @property
    def field_name(self) -> str:
        """The field of a job's options that it becomes."""
        return self.field or self.name

    def check(self, value: Any) -> None:
        """Raise UsageError for a value that a job does not take."""
        if value is None:
            return
        if self.kind.choices and value not in self.kind.choices:
            raise UsageError(f"{self.names[0]} cannot be {value!r}",
                             hint=f"it is one of {', '.join(self.kind.choices)}")
        if self.kind.check is not None:
            self.kind.check(self.names[0], value)

    def parsed(self, given: Mapping[str, Any]) -> Any:
        """The value for Python of what the command line has, by the names of options. Raises UsageError."""
        if self.parts:
            parts = [part for part in self.parts if given.get(part.name) not in (None, [])]
            if self.combine is None and len(parts) > 1:
                raise UsageError(f"more than one place to {self.name}",
                                 hint=f"give one of {', '.join(part.flag for part in self.parts)}")
            found = {part.name: part.parsed(given) for part in parts}
            return self.default if not found else self.combine(**found) if self.combine else found[parts[0].name]
        value = given[self.name]
        if value is None or value == []:
            return self.default
        return value if self.kind.parse is None else self.kind.parse(value)


class Verb:
    """A verb of the command line and its function in Python, if it has one: a list of options, in the order of the
    function's arguments. `like` is a verb whose options mean the same where they are the same ones. So many of the
    function's arguments may be given without names as are `positional`; None: those that must be given."""

    def __init__(self, name: str, group: str, summary: str, *options: Option, like: Verb | None = None,
                 positional: int | None = None) -> None:
        self.name, self.group, self.summary, self.options, self.like = name, group, summary, options, like
        required = itertools.takewhile(lambda option: option.default is REQUIRED, self.in_python)
        self.positional = len([*required]) if positional is None else positional

    @cached_property
    def given(self) -> tuple[Option, ...]:
        """What the command line takes, parts in place of what they are of."""
        return tuple(part for option in self.options if option.where is not Where.PYTHON
                     for part in option.parts or (option,))

    @property
    def arguments(self) -> list[Option]:
        """Those without a name that are shown."""
        return [option for option in self.given if option.is_argument and not option.hidden]

    @property
    def shown(self) -> list[Option]:
        """Those with a name that are shown, by groups and in the order of these."""
        shown = [option for option in self.given if not option.is_argument and not option.hidden]
        return sorted(shown, key=lambda option: (GROUPS.index(option.group), not option.first, option.order))

    @property
    def in_python(self) -> list[Option]:
        """The arguments of its function."""
        return [option for option in self.options if option.where is not Where.COMMAND_LINE]

    @cached_property
    def _by_field(self) -> dict[str, Option]:
        parts = [part for option in self.options for part in option.parts or (option,)]
        return {part.field_name: part for part in parts}

    def in_python_words(self, option: Option) -> str:
        """What Python's documentation says of an argument: options by their names there."""
        if option.python is not None:
            return option.python
        known = {part.flag: one.name for one in self.options for part in (one, *one.parts) if part.flag}
        text = _FLAG.sub(lambda found: f"`{known[found[0]]}`" if found[0] in known else found[0], option.text)
        return text if text[1:2].isupper() else text[:1].lower() + text[1:]

    def parsed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The function's arguments, and what else the verb takes, of what the command line has. Raises UsageError."""
        return {option.name: option.parsed(given) for option in self.options
                if option.where is not Where.PYTHON}

    def check(self, job: object) -> None:
        """Raise UsageError for a field of a job's options whose value it does not take."""
        for name, option in self._by_field.items():
            option.check(getattr(job, name, None))

    def recorded(self, job: Any) -> dict[str, object]:
        """What a manifest records of a job's options: those that decide what a snapshot holds, as JSON, without those
        at their defaults, in the order of the fields."""
        known: dict[str, object] = {}
        for own in dataclasses.fields(job):
            option, value = self._by_field.get(own.name), getattr(job, own.name)
            if option is not None and option.recorded and (option.always or value != own.default):
                if (text := option.kind.recorded(value)) is not None:
                    known[option.name] = text
        return known
