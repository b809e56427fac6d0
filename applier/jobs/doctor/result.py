"""The findings of a doctor, as values."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from applier.errors import ApplierError

OK, NOTE, PROBLEM = "ok", "note", "problem"
Result = TypeVar("Result")


@dataclass(frozen=True)
class Check:
    """One check (`name`): "ok", a "note" (a replay continues, but the user should know) or a "problem" (a replay
    stops); what was found, and what to do about it, "" for nothing."""

    name: str
    state: str
    found: str
    to_do: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """The checks, in the order in which a replay needs them."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[Check, ...]:
        """The checks that would stop a replay."""
        return tuple(check for check in self.checks if check.state == PROBLEM)

    def to_json(self) -> dict[str, object]:
        """Return the diagnosis as values of JSON."""
        return {"problems": len(self.problems), "checks": [dataclasses.asdict(check) for check in self.checks]}


def problem_of(name: str, error: ApplierError) -> Check:
    """Return the error that would stop a replay, and its hint, as a check."""
    to_do = error.hint or ""
    return Check(name, PROBLEM, str(error).removesuffix(f" hint: {to_do}").removesuffix("."), to_do)


class Findings:
    """Checks, as they are made."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def ok(self, name: str, found: str) -> None:
        self.checks.append(Check(name, OK, found))

    def note(self, name: str, found: str, to_do: str = "") -> None:
        self.checks.append(Check(name, NOTE, found, to_do))

    def problem(self, name: str, error: ApplierError, more: str = "") -> None:
        """Add the error that would stop a replay; `more` is added to its text."""
        found = problem_of(name, error)
        self.checks.append(replace(found, found=found.found + more))

    def attempt(self, name: str, step: Callable[[], Result]) -> Result | None:
        """Return a step of a replay; None where it stops, which is a problem."""
        try:
            return step()
        except ApplierError as error:
            self.problem(name, error)
            return None
