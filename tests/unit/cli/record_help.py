"""What --help and --help-all print at two widths: `python -m tests.unit.cli.record_help` records it again."""

import contextlib
import io
import os
from pathlib import Path
from unittest import mock

from applier import cli
from applier.cli.help.help_pages import verbs

WIDTHS = (80, 200)
FOLDER = Path(__file__).parent / "help"
VERB_NAMES = [verb.name for verb in verbs()]


def printed(columns: int, *words: str) -> str:
    """What a command line prints on a terminal of this width."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"COLUMNS": str(columns)}), contextlib.redirect_stdout(out):
        assert cli.main(list(words)) == 0
    return out.getvalue()


def recorded(columns: int) -> dict[str, str]:
    """The files for this width, by their names."""
    screens = [printed(columns, "--help"), *(printed(columns, name, "--help") for name in VERB_NAMES)]
    whole = [printed(columns, name, "--help-all") for name in VERB_NAMES]
    return {f"help_{columns}.txt": "\n\n".join(screens), f"help_all_{columns}.txt": "\n\n".join(whole)}


if __name__ == "__main__":
    for width in WIDTHS:
        for name, text in recorded(width).items():
            (FOLDER / name).write_text(text)
