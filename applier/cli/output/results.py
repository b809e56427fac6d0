"""The one way in which verbs print a result: as text for people, or, with --json, as one document for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Concatenate, Generic, ParamSpec

from applier.cli.output.grids import result_console
from applier.cli.terminal import ResultConsole

P = ParamSpec("P")


def _none(*found: object, **others: object) -> object:
    """Return the document of a verb without --json."""
    return None


@dataclass(frozen=True)
class Result(Generic[P]):
    """A kind of result. `text` prints it to a console on stdout; `document` returns its JSON, with the names that
    Python and the manifest have."""

    text: Callable[Concatenate[ResultConsole, P], None]
    document: Callable[P, object] = _none

    def print(self, as_json: bool, *found: P.args, **others: P.kwargs) -> None:
        """Print to stdout; JSON in one line, which any terminal can show."""
        if as_json:
            print(json.dumps(self.document(*found, **others), default=_text), flush=True)
        else:
            self.show(*found, **others)

    def show(self, *found: P.args, **others: P.kwargs) -> None:
        """Print to stdout as text."""
        self.text(result_console(), *found, **others)


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
