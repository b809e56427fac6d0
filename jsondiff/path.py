"""JSON paths to a single location, as MySQL's diffs use them: parse, print, compare.

    path   = "$" leg*
    leg    = "." name | "[" index "]"
    name   = a quoted JSON string, or an identifier
    index  = number | "last" | "last" "-" number

Spaces are allowed between all of these. MySQL also has wildcards and ranges ("JSON Path Syntax" in its manual), but
they match many locations, and a diff has one. A server quotes a name only if it is not an identifier.
"""

import json
import re
from json.encoder import encode_basestring as quoted  # ", \ and control characters escaped, as the server does
from typing import NamedTuple

MAX_INDEX = 2**32 - 1

_SPACE = " \t\n\v\f\r"
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BARE = re.compile(rf"[^{_SPACE}.*\[]+")
_INDEX = re.compile(rf"(?:(last)(?:[{_SPACE}]*-[{_SPACE}]*([0-9]+))?|([0-9]+))")
_ONLY_BEHIND = {0x200C, 0x200D, 0x203F, 0x2040, 0xFF3F}  # joiners and connectors: not at an identifier's start


class PathError(ValueError):
    """A text is not a path to one value. `position` is the character where that was found."""

    def __init__(self, what: str, position: int):
        super().__init__(what, position)
        self.what, self.position = what, position

    def __str__(self) -> str:
        return f"{self.what} at character {self.position}"


class Member(NamedTuple):
    """The member of an object that has this name."""

    name: str

    def __str__(self) -> str:
        return f".{self.name if is_identifier(self.name) else quoted(self.name)}"


class Cell(NamedTuple):
    """A cell of an array: its 0-based number, from the start or back from the last cell."""

    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody calls on a leg
    from_end: bool = False

    def position(self, length: int) -> int:
        """The cell's number in an array of this many cells. If the array does not have it: where it would be inserted,
        at the end, or at the start if counted back."""
        if self.from_end:
            return max(length - 1 - self.index, 0)
        return min(self.index, length)

    def __str__(self) -> str:
        if not self.from_end:
            return f"[{self.index}]"
        return f"[last-{self.index}]" if self.index else "[last]"


Leg = Member | Cell


class Path(NamedTuple):
    """A path from a document's root to one value. Equal paths have the same legs, however they were written."""

    legs: tuple[Leg, ...] = ()

    def __str__(self) -> str:
        """The path as MySQL prints it and as the binlog has it."""
        return "$" + "".join(map(str, self.legs))


def parse(text: str) -> Path:
    """Parse a path in any form that MySQL accepts. Raises PathError, also for wildcards and ranges."""
    at = _skip(text, 0)
    if text[at : at + 1] != "$":
        raise PathError("a path begins with $", at)
    legs: list[Leg] = []
    leg: Leg
    at = _skip(text, at + 1)
    while at < len(text):
        if text[at] == ".":
            leg, at = _member(text, _skip(text, at + 1))
        elif text[at] == "[":
            leg, at = _cell(text, _skip(text, at + 1))
        else:
            raise PathError(_wildcard_or(text, at, "a member or an array cell begins with . or ["), at)
        legs.append(leg)
        at = _skip(text, at)
    return Path(tuple(legs))


def is_identifier(name: str) -> bool:
    """Return whether a name needs no quotes in a path.

    An identifier of ECMAScript, as MySQL tests it: by the lowest byte of a character's code (is_letter and is_digit in
    json_path.cc), so 日 (U+65E5) is a letter, and 本 (U+672C, taken as a comma) is not."""
    return bool(name) and all(_fits(ord(character), at > 0) for at, character in enumerate(name))


def _fits(code: int, behind: bool) -> bool:
    if 0x300 <= code <= 0x36F:  # combining marks
        return behind
    low = code & 255
    if 0x80 <= low < 0xFF or 0x41 <= low <= 0x5A or 0x61 <= low <= 0x7A or code in (0x24, 0x5F):
        return True
    return behind and (0x30 <= low <= 0x39 or code in _ONLY_BEHIND)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _wildcard_or(text: str, at: int, what: str) -> str:
    return "a wildcard, which may lead to many places," if text[at : at + 1] == "*" else what


def _member(text: str, at: int) -> tuple[Member, int]:
    quoted = text[at : at + 1] == '"'
    found = (_QUOTED if quoted else _BARE).match(text, at)
    if not found:
        raise PathError(_wildcard_or(text, at, "a member's name without an end" if quoted else "no member's name"), at)
    try:  # escapes are read in bare names, too
        name = json.loads(found[0] if quoted else f'"{found[0]}"')
    except ValueError:
        raise PathError("a member's name that is no JSON string", at) from None
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise PathError("a member's name with half a character", at)
    if not quoted and not is_identifier(name):
        raise PathError("a member's name that is no identifier and has no quotes", at)
    return Member(name), found.end()


def _cell(text: str, at: int) -> tuple[Cell, int]:
    found = _INDEX.match(text, at)
    if not found:
        raise PathError(_wildcard_or(text, at, "an array cell that is neither a number nor last"), at)
    last, back, index = found.groups()
    cell = Cell(int(index or back or 0), bool(last))
    if cell.index > MAX_INDEX:
        raise PathError(f"an array cell's number over {MAX_INDEX}", at)
    end = _skip(text, found.end())
    if text[end : end + 1] != "]":
        what = "a range, which may lead to many places," if text[end : end + 2] == "to" else "an array cell without a ]"
        raise PathError(what, end)
    return cell, end + 1
