"""Converts labels and numbers to ENUM and SET columns, and members to numbers.

Source: MySQL manual, "The ENUM Type", "The SET Type"; judged by both servers, which differ in numbers out of range.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from applier.errors import NotComputable
from applier.mysql.character_sets.client_charsets import UTF8, encoded, label_bytes
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.mysql.values.members import numbers_of
from applier.sql.casting import numbers
from applier.sql.casting.shown_numbers import shown
from applier.sql.casting.texts import WIDE, by_distinct, in_charset

_NUMBER = re.compile(r"\s*([+-]?\d{1,21})", re.ASCII)
_SIGNS = re.compile(r"\s*[+-].*\d")
_LONG_ENUM, _LONG_SET = 6, 22
"""The length, in bytes, from which text is not a number."""
_TWO_BYTES = frozenset({"ucs2", "utf16"})
_SHOWN = ColumnType("longtext", charset="utf8mb4")
_BIGINT = ColumnType("bigint")
_LARGEST = Decimal((1 << 63) - 1)


def from_text(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Labels as members: by name, as the new column's collation compares them, without trailing spaces; else, if the
    label is a number, by that, which strntoull of the servers reads in 64 bits, and MariaDB cuts to those of a SET;
    labels that match no member become empty. Text that comes into a wide character set, or out of it, is not a number.
    Raises NotComputable for what may begin with a number in a wide character set."""
    if new.charset == "binary" and old.charset not in UTF8 and pc.all(pc.string_is_ascii(values)).as_py() is False:
        raise NotComputable(f"labels in {old.charset} that are not ASCII as bytes")
    if old.charset == "binary" and new.charset not in UTF8 and pc.all(pc.string_is_ascii(values)).as_py() is False:
        raise NotComputable(f"labels in binary that are not ASCII as members in {new.charset}")
    if "binary" in (sets := {old.charset, new.charset}) and sets & WIDE and pc.any(pc.not_equal(values, "")).as_py():
        raise NotComputable(f"labels in {old.charset} by their bytes, as members in {new.charset}")
    flavour = session.flavour
    are_same = are_read_alike(old, new)
    width = 1 if new.charset not in WIDE else 4 if new.charset == "utf32" else 2
    if new.charset != old.charset and any("?" in member for member in new.members):
        # a "?" also stands for characters that are not in the set
        values = in_charset(values, new.charset or "utf8mb4")
    texts = pc.unique(pc.utf8_rtrim(values.drop_null(), " "))
    words = pc.unique(pc.list_flatten(pc.split_pattern(texts, ","))) if new.base == "set" else texts
    by_name = numbers_of(words, new, flavour)

    def number_in(text: str, longest: int) -> re.Match[str] | None:
        if not are_same or len(text) * width >= longest:
            return None
        number = _NUMBER.fullmatch(text)
        if number is None and width > 1 and (any(character.isdecimal() for character in text[:-1])
                                             or _SIGNS.match(text)):
            raise NotComputable(f"{text!r} as a member's number in a wide character set")
        return number

    def as_enum(text: str) -> str:
        text = text.rstrip(" ")
        found = by_name.get(text)
        if found is not None:
            return new.members[found]
        number = number_in(text, _LONG_ENUM)
        return new.members[int(number[1]) - 1] if number and 1 <= int(number[1]) <= len(new.members) else ""

    def as_set(text: str) -> str:
        labels = text.rstrip(" ")
        chosen = {by_name[label] for label in labels.split(",") if label in by_name} if labels else set()
        number = None if chosen else number_in(text if width == 1 else labels, _LONG_SET)
        if number is None:
            return _of_bits(sum(1 << number for number in chosen), new)
        bits = int(number[1])
        bits = bits % (1 << 64) if abs(bits) < 1 << 64 else 0
        return _of_bits(0 if flavour == "mysql" and bits >> len(new.members) else bits, new)

    return by_distinct(values, as_set if new.base == "set" else as_enum)


def are_read_alike(old: ColumnType, new: ColumnType) -> bool:
    """True if labels that are numbers count as these in another character set, too."""
    sets = {old.charset, new.charset}
    return len(sets) == 1 or WIDE.isdisjoint(sets) or sets <= _TWO_BYTES


def copied(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Labels as members by name, but none as a member whose label CONVERT TO CHARACTER SET has made of bytes that are
    not text in the new set."""
    source, target = old.charset or "utf8mb4", new.charset or "utf8mb4"

    def is_text(number: int, label: str) -> bool:
        data = label_bytes(old.members[number], source)
        return label_bytes(label, target) != data or encoded(label, target) == data

    labels = tuple(label if number >= len(old.members) or is_text(number, label) else f"\0{number}"
                   for number, label in enumerate(new.members))
    findable = replace(new, members=labels)
    return renamed(from_text(values, old, findable, session), findable, new)


def renamed(values: pa.Array, old: ColumnType, new: ColumnType) -> pa.Array:
    """Members of an ENUM or a SET that keep their numbers, by their new labels."""
    names: dict[str, str | None] = {}
    for label, name in zip(old.members, new.members, strict=False):
        names[label] = name if names.get(label, name) == name else None

    def named(label: str) -> str:
        if (name := names[label]) is None:
            raise NotComputable(f"{label!r} is the label of several members")
        return name

    if new.base == "enum":
        return by_distinct(values, lambda label: named(label) if label in names else "")
    return by_distinct(values, lambda text: ",".join(map(named, text.split(","))) if text else "")


def _of_bits(bits: int, new: ColumnType) -> str:
    return ",".join(member for number, member in enumerate(new.members) if bits >> number & 1)


def from_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """Numbers as the members of that number; in MySQL as text, which may be the name of one, except for bits."""
    flavour = session.flavour
    if flavour == "mysql" and old.base != "bit":
        return from_text(shown(values, old, flavour), _SHOWN, new, session)
    if old.base == "bigint" and pa.types.is_decimal(values.type):  # a SET takes the bits of an unsigned number
        if not old.unsigned and pc.any(pc.greater(values, _LARGEST)).as_py():
            raise NotComputable("a number of more than 9223372036854775807 that may be a DECIMAL as members")
    elif pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        values = numbers.to_number(values, old, _BIGINT, session)
    n = len(new.members)

    def as_enum(number: int | Decimal) -> str:
        return new.members[int(number) - 1] if 1 <= number <= n else ""

    def as_set(number: int | Decimal) -> str:
        return _of_bits(int(number), new)

    return by_distinct(values, as_set if new.base == "set" else as_enum)


def to_number(values: pa.Array, old: ColumnType, new: ColumnType, session: Session) -> pa.Array:
    """The number of an ENUM's member, from 1 on; a SET's bits."""
    return numbers.to_number(member_numbers(values, old), _BIGINT, new, session)


def member_numbers(values: pa.Array, old: ColumnType) -> pa.Array:
    """Return the members' numbers, as stored in the table's rows. Raises NotComputable for a label that several members
    have, as those with characters that a client's character set lacks."""
    by_label = {member: number for number, member in enumerate(old.members)}

    def number_of(label: str) -> int:
        if old.members.count(label) > 1:
            raise NotComputable(f"{label!r} is the label of several members")
        return by_label[label]

    if old.base == "enum":
        numbered = by_distinct(values, lambda label: number_of(label) + 1 if label in by_label else 0, pa.int64())
    else:
        numbered = by_distinct(values, lambda text: sum(1 << number_of(label) for label in text.split(","))
                               if text else 0, pa.decimal128(20, 0))
    return numbered if pa.types.is_integer(numbered.type) else pc.cast(numbered, pa.decimal128(38, 0))
