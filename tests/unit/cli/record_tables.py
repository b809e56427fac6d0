"""What tables look like on terminals of two widths: `python -m tests.unit.cli.record_tables` records it again."""

import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from unittest import mock

from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE

WIDTHS = (80, 200)
FOLDER = Path(__file__).parent / "tables"
BEFORE, NOW, LAKE = "before", "now", "lake"
COMMANDS = (
    ["status", NOW],
    ["report", NOW],
    ["diff", BEFORE, NOW, "--rows", "3"],
    ["explain", "--binlogs", str(ARCHIVE), "--tables", "shop.orders,shop.stock"],
    ["summary", "--binlogs", str(ARCHIVE), "--top", "3"],
    ["history", "--binlogs", str(ARCHIVE), "--tables", "shop.products", "--key", "AU00042"],
    ["versions", LAKE],
    ["fsck", LAKE],
    ["expire", LAKE, "--keep", "1", "--dry-run"],
    ["publish", LAKE, "--delta", "delta"],
)


class Terminal(io.StringIO):
    """A stdout on which somebody reads."""

    def isatty(self) -> bool:
        return True


def printed(columns: int, words: list[str]) -> str:
    """What a command line prints on a terminal of this width, without its colours."""
    out = Terminal()
    with mock.patch.dict(os.environ, {"COLUMNS": str(columns), "TERM": "xterm", "TZ": "UTC"}), \
            mock.patch.object(sys, "stdout", out):
        assert cli.main(["-q", *words]) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def make_snapshots() -> None:
    """Make the two snapshots, and a lake with two versions, in the current directory."""
    assert cli.main(["-q", "replay", "--binlogs", str(ARCHIVE), "--lake", LAKE, "--engine", "local",
                     *("--snapshot-at", "binlog.000002:745606", "--snapshot-at", "binlog.000003:176495")]) == 0
    for name, *more in ((BEFORE, "--stop-datetime", "2026-03-14 10:30:00 UTC"), (NOW,)):
        assert cli.main(["-q", "replay", "--binlogs", str(ARCHIVE), "--output", name, "--engine", "local", *more]) == 0


def recorded(columns: int) -> str:
    """All tables in this width; the seconds that something took are 0."""
    texts = []
    for words in COMMANDS:
        shutil.rmtree("delta", ignore_errors=True)
        text = printed(columns, words)
        if words[0] == "report":
            text = re.sub(r"\b\d\.\d(\d?)\b", lambda match: "0.0" + "0" * len(match[1]), text)
        text = re.sub(r"\d\.\d s$", "0.0 s", text)
        texts.append(f"$ applier {' '.join(words).replace(str(ARCHIVE), 'archive')}\n{text}")
    return "\n".join(texts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_snapshots()
        for width in WIDTHS:
            (FOLDER / f"tables_{width}.txt").write_text(recorded(width))
