"""MariaDB's sequences, which provide numbers for defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NEXT = re.compile(r"(?:NEXTVAL ?\( ?|NEXT VALUE FOR )(?:`?([^`.]+?)`? ?\. ?)?`?([^`.()]+?)`?(?: ?\))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SequenceState:
    """A sequence as a row of the log at `position` says: a replica continues with `next_value`, in steps of `step`,
    which is 0 if it and the limits are unknown, as in a minimal image."""

    database: str
    name: str
    position: int
    next_value: int
    minimum: int = 0
    maximum: int = 0
    step: int = 0


def sequence_of(expression: str, database: str) -> tuple[str, str] | None:
    """The database and the name of the sequence whose next number an expression is, and nothing else; a name without a
    database is of this one. None for other expressions."""
    found = _NEXT.fullmatch(expression.strip(" ()"))
    return None if found is None else (found[1] or database, found[2])
