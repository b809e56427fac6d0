"""Options and verbs as values. The command line, its pages and the Python API are generated from them."""

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
"""The groups of --help, in order."""
REQUIRED: Final = ...
_SAME: Final = object()
_order = itertools.count()
_FLAG = re.compile(r"(?P<code>`[^`]*`)|(?<![\w-])(?P<flag>--[a-z][a-z-]*[a-z])(?P<after>[ =](?P<value>\w[\w.:]*\w))?")
"""An option in a text, with the word after it, which may be its value; or what stands in backticks."""
_POSITION = re.compile(r"\S+\.\d{6,}:(?:\d+|POSITION)")


class Where(Enum):
    """Where an option is valid."""

    EVERYWHERE = "everywhere"
    COMMAND_LINE = "command line"
    PYTHON = "Python"


@dataclass(frozen=True, eq=False)
class Kind:
    """A type of values.

    `annotation` is the type in Python. On the command line, `value` is the placeholder in help, `typed` the type that
    typer parses, and `many` means that the option may be repeated (`several` is the sentence that says so). `parse`
    converts the parsed text, or texts, to the Python value; None: no conversion is needed. `check` raises UsageError
    for a value that a job refuses; it gets the option's name on the command line. `recorded` converts a value to JSON
    for a manifest; None: it is not recorded.
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

    `name` is the name in Python; on the command line it has dashes, unless `flags` lists other names: the first one is
    shown, the others are old names that still work. `off` is the opposite of a flag. `default` is REQUIRED or a value;
    `command_default` replaces it on the command line. `text` describes the option, and `python` replaces it in Python's
    documentation. An option that comes `first` has a line on the first screen of --help. `is_argument` marks a
    positional argument of the command line, `hidden` an older way to give another option. An option with `parts` is one
    value in Python and several options on the command line: `combine` makes the value of those that are given; without
    it, only one may be given. `field` names the field of a job's options, if that differs from `name`. A snapshot's
    manifest records options that are `recorded` and not at their default, or `always`.
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
        """Return this option with changes for one verb: another text, placeholder or default."""
        if text is not None:
            changes = {"text": text, "python": None} | changes
        return replace(self, **changes)

    def plus(self, sentence: str) -> Option:
        """Return this option with one more sentence for one verb."""
        return replace(self, text=f"{self.text} {sentence}", python=self.python and f"{self.python} {sentence}")

    @property
    def flag(self) -> str:
        """The name on the command line, with dashes; "" for an argument."""
        return "" if self.is_argument else self.names[0]

    @property
    def names(self) -> tuple[str, ...]:
        """All names on the command line; help shows the first one."""
        return self.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def shown_value(self) -> str:
        """The placeholder for a value in help."""
        if self.kind.typed is bool:
            return f"/ {self.off}" if self.off else ""
        return self.value or self.kind.value or "|".join(self.kind.choices) or "N"

    @property
    def on_command_line(self) -> Any:
        """Return the default on the command line, as a user would type it, or REQUIRED."""
        return self.default if self.command_default is _SAME else self.command_default

    @property
    def help(self) -> str:
        """The text on the command line."""
        return f"{self.text} {self.kind.several}".strip()

    @property
    def full_help(self) -> str:
        """The text on the command line, with the default."""
        default = self.on_command_line
        return self.help + (f" By default {default}." if default not in (REQUIRED, None, False, "", (), []) else "")

    @property
    def annotation(self) -> str:
        """The type in Python."""
        return f"{self.kind.annotation} | None" if self.default is None else self.kind.annotation

    @property
    def field_name(self) -> str:
        """The field of a job's options that gets the value."""
        return self.field or self.name

    def check(self, value: Any) -> None:
        """Raise UsageError for a value that a job refuses."""
        if value is None:
            return
        if self.kind.choices and value not in self.kind.choices:
            raise UsageError(f"{self.names[0]} cannot be {value!r}",
                             hint=f"it is one of {', '.join(self.kind.choices)}")
        if self.kind.check is not None:
            self.kind.check(self.names[0], value)

    def parsed(self, given: Mapping[str, Any]) -> Any:
        """Return the Python value, from the command line's values by option name. Raises UsageError."""
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
    """A verb of the command line and its Python function: a list of options, in the order of the function's arguments.

    The documentation refers to the verb `like` for options that both have. `positional` is how many arguments the
    function takes without names; None: those that are required.
    """

    def __init__(self, name: str, group: str, summary: str, *options: Option, like: Verb | None = None,
                 positional: int | None = None) -> None:
        self.name, self.group, self.summary, self.options, self.like = name, group, summary, options, like
        required = itertools.takewhile(lambda option: option.default is REQUIRED, self.in_python)
        self.positional = len([*required]) if positional is None else positional

    def without(self, *options: Option) -> list[Option]:
        """Return the options for another verb that takes all except these."""
        return [option for option in self.options if option not in options]

    @cached_property
    def given(self) -> tuple[Option, ...]:
        """The options on the command line; parts replace the options that consist of them."""
        return tuple(part for option in self.options if option.where is not Where.PYTHON
                     for part in option.parts or (option,))

    @property
    def arguments(self) -> list[Option]:
        """Positional arguments that help shows."""
        return [option for option in self.given if option.is_argument and not option.hidden]

    @property
    def shown(self) -> list[Option]:
        """Options that help shows, in its order."""
        shown = [option for option in self.given if not option.is_argument and not option.hidden]
        return sorted(shown, key=lambda option: (GROUPS.index(option.group), not option.first, option.order))

    @property
    def in_python(self) -> list[Option]:
        """The arguments of the Python function."""
        return [option for option in self.options if option.where is not Where.COMMAND_LINE]

    @cached_property
    def _by_field(self) -> dict[str, Option]:
        parts = [part for option in self.options for part in option.parts or (option,)]
        return {part.field_name: part for part in parts}

    @cached_property
    def python_names(self) -> dict[str, tuple[str, Option]]:
        """The Python name of each option of the command line, and the option."""
        return {part.flag: (part.name if option.combine else option.name, part) for option in self.in_python
                for part in option.parts or (option,) if part.flag}

    def in_python_words(self, option: Option) -> str:
        """Return the text for Python's documentation, in which options have their Python names."""
        if option.python is not None:
            return option.python
        text = with_python_names(option.text, self.python_names)
        return text if text[1:2].isupper() else text[:1].lower() + text[1:]

    def parsed(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the function's arguments, and the values of options that only the command line has. Raises
        UsageError."""
        return {option.name: option.parsed(given) for option in self.options
                if option.where is not Where.PYTHON}

    def check(self, job: object) -> None:
        """Raise UsageError for the first field of a job's options with a value that is refused."""
        for name, option in self._by_field.items():
            option.check(getattr(job, name, None))

    def recorded(self, job: Any) -> dict[str, object]:
        """Return the options that decide the contents of a snapshot, as JSON for its manifest: those that are not at
        their defaults, in the order of the job's fields."""
        known: dict[str, object] = {}
        for own in dataclasses.fields(job):
            option, value = self._by_field.get(own.name), getattr(job, own.name)
            if option is not None and option.recorded and (option.always or value != own.default):
                if (text := option.kind.recorded(value)) is not None:
                    known[option.name] = text
        return known


def with_python_names(text: str, names: Mapping[str, tuple[str, Option]]) -> str:
    """Return a text that names options as on the command line, with their names in Python: `--engine local` becomes
    `engine="local"`. Backticks enclose whole commands and code, which stay."""
    return _FLAG.sub(lambda found: _named_in_python(found, names), text)


def _named_in_python(found: re.Match[str], names: Mapping[str, tuple[str, Option]]) -> str:
    if found["flag"] not in names:
        return found[0]
    (name, option), value = names[found["flag"]], found["value"]
    if value and (value in option.kind.choices or value == option.shown_value or _POSITION.fullmatch(value)):
        return f'`{name}="{value}"`'
    if option.kind.typed is bool and found.string.endswith(("give ", "with "), 0, found.start()):
        return f"`{name}=True`{found['after'] or ''}"
    return f"`{name}`{found['after'] or ''}"
