"""Writes the signatures of verbs' functions into their source, out of the registry of options, and PYTHON.md out of the
docstrings of what is public: `python docs/write_python.py`, or `make drawing`."""

import ast
import inspect
import itertools
import os
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path

import applier
import applier.binlog
from applier.api.calls import arguments, public
from applier.options import verbs
from applier.options.option import Verb

PAGE = Path(__file__).with_name("PYTHON.md")
_HEAD = """# Python

The verbs of the command line as functions: results are objects, nothing is printed, and Java starts only if Spark is
requested. This page is generated from the docstrings, and the tests run their examples; `backup` is the demo's archive.

```pycon
>>> import applier
>>> from datetime import UTC, datetime
```

Errors are `applier.ApplierError` and its subclasses, with `message`, `file`, `position`, `gtid`, `table`, `key`,
`hint` and `mysql_errno`. An argument of the wrong type, or with an invalid value, raises `UsageError` before anything
is read; no argument is silently ignored.
"""
_ARGUMENT = re.compile(r"^(\w+(?:,\s\w+)*): ", re.MULTILINE)
_NAME = re.compile(r"\w+")
_FIRST = ("archive", "Archived", "replay", "Replayed", "Snapshot", "SnapshotTable", "changes", "Changes",
          "TableChanges", "follow", "Batch", "history", "History", "undo", "Undone", "UndoneTable", "Conflict",
          "versions", "LakeVersion", "expire", "Expired", "compact", "Compacted", "fsck", "CheckedLake",
          "publish", "published", "Published", "PublishedTable", "PublishedAsOf", "TableAsOf",
          "sync", "Round", "Ending",
          "rewrite", "Rewritten", "RewrittenFile", "Proof", "diff", "Diff", "TableDiff", "export", "import_dump",
          "verify_sql", "verify", "ServerComparison",
          "query", "compare", "Comparison", "Standing", "summary", "Summary", "doctor", "locate", "explain",
          "binlog.Writer")
_MADE = ("Snapshot", "binlog.Writer")
"""Classes of which people make objects."""


_FUNCTIONS = {"import": "import_dump", "sql": "query"}
"""Names of functions that are not those of their verbs."""


def sources() -> dict[Path, str]:
    """The files of verbs' functions, with the signatures as they should be. Several verbs of one function are its
    overloads, and the last one the function itself."""
    texts: dict[Path, str] = {}
    done = Counter[str]()
    for verb in vars(verbs).values():
        function = isinstance(verb, Verb) and getattr(applier, _FUNCTIONS.get(verb.name, verb.name), None)
        if function:
            path = Path(inspect.getfile(inspect.unwrap(function)))
            lines = "".join(f"    {parameter},\n" for parameter in public.parameters(verb))
            start = f"def {function.__name__}(\n"
            parts = texts.get(path, path.read_text()).split(start)
            done[verb.name] += 1
            number = done[verb.name]
            parts[number] = f"{lines}) -> {parts[number].partition(') -> ')[2]}"
            texts[path] = start.join(parts)
    return texts


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD, _contents()]
    for name in _FIRST:
        found = attrgetter(name)(applier)
        parts.append(_function(name, found) if inspect.isfunction(found) else _class(name, found))
    errors = [name for name in applier.__all__ if isinstance(getattr(applier, name), type)
              and issubclass(getattr(applier, name), applier.ApplierError)]
    rest = [name for name in applier.__all__ if name not in _FIRST and name not in errors]
    assert not (missing := [name for name in rest if inspect.isfunction(getattr(applier, name))]), missing
    parts.append(_list("Types of arguments", _aliases()))
    parts.append(_list("Values", ((name, _text(getattr(applier, name), 1)) for name in rest)))
    parts.append(_list("Errors", ((name, _text(getattr(applier, name), 1)) for name in errors)))
    return "\n".join(parts)


def _contents() -> str:
    """Links to what people call; results stand below what gives them."""
    called = [name for name in _FIRST if name in _MADE or inspect.isfunction(attrgetter(name)(applier))]
    links = [f"[{name}](#{name.lower().replace('.', '')})" for name in called]
    links += ["[types of arguments](#types-of-arguments)", "[errors](#errors)"]
    text = f"On this page: {' · '.join(links)}."
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False) + "\n"


def _list(title: str, entries: Iterable[tuple[str, str]]) -> str:
    return "\n".join([f"## {title}\n", *(f"- `{name}`: {meaning}" for name, meaning in entries)]) + "\n"


def _aliases() -> Iterator[tuple[str, str]]:
    """The named types of arguments, with the text below each."""
    body = ast.parse(Path(inspect.getfile(arguments)).read_text()).body
    for line, text in itertools.pairwise(body):
        if isinstance(line, ast.Assign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            yield ast.unparse(line.targets[0]), " ".join(str(text.value.value).split())


def _function(name: str, function: Callable[..., object]) -> str:
    return f"## {name}\n\n```python\n{_signature(name, function)}\n```\n\n{_text(function)}\n"


def _class(name: str, kind: type) -> str:
    made = f"```python\n{_signature(name, kind)}\n```\n\n" if name in _MADE else ""
    lines = [f"## {name}\n", f"{made}{_text(kind)}\n"]
    for member, attribute in _members(kind):
        if inspect.isfunction(attribute):
            lines.append(f"- `{member}{_parameters(attribute)}`: {_text(attribute, 1)}")
        else:
            lines.append(f"- `{member}`: {_text(attribute, 1)}")
    return "\n".join(lines) + "\n"


def _members(kind: type) -> Iterator[tuple[str, object]]:
    private = [base for base in kind.__mro__[1:] if base.__module__.startswith("applier.") and
               base.__name__ not in applier.__all__]
    found = {name: attribute for base in (kind, *private) for name, attribute in vars(base).items()}
    for name, attribute in found.items():
        is_default = isinstance(attribute, int | float | str | tuple)  # of a field: its docstring is that of its type
        if not name.startswith("_") and not is_default and inspect.getdoc(attribute):
            yield name, attribute


def _signature(name: str, made: Callable[..., object]) -> str:
    signature = inspect.signature(made)
    lines = [f"applier.{name}("]
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    for number, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.kind not in kinds[:number]:
            lines.append("    *,")
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        lines.append(f"    {parameter.name}: {parameter.annotation}{default},")
    returned = "" if isinstance(made, type) else f" -> {signature.return_annotation}"
    return "\n".join([*lines, f"){returned}"])


def _parameters(method: Callable[..., object]) -> str:
    return "(" + ", ".join(list(inspect.signature(method).parameters)[1:]) + ")"


def _text(found: object, paragraphs: int | None = None) -> str:
    """A docstring as Markdown: its examples in fences; its first paragraphs, if asked, on one line."""
    text = inspect.getdoc(found) or ""
    parts = text.split("\n\n")
    if paragraphs is not None:
        return " ".join(" ".join(parts[:paragraphs]).split())
    return "\n\n".join(map(_paragraph, parts))


def _paragraph(text: str) -> str:
    if text.startswith(">>> "):
        return f"```pycon\n{text}\n```"
    if not _ARGUMENT.match(text):
        return text
    return _ARGUMENT.sub(lambda names: "- " + ", ".join(f"`{name}`" for name in _NAME.findall(names[1])) + ": ", text)


def main() -> int:
    """Write the signatures, or, where these are as they should be, the page."""
    changed = {path: text for path, text in sources().items() if path.read_text() != text}
    for path, text in changed.items():
        path.write_text(text)
    if changed:
        os.execv(sys.executable, [sys.executable, *sys.argv])
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
