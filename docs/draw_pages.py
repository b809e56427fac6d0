"""Draws the pictures of REPORTS.md, of pages over the demo archive: `python docs/draw_pages.py`. It needs Chromium.

They are not drawn by `make drawing`: a report has the times of its run, so it never looks the same twice.
"""

import sys
import tempfile
from contextlib import chdir
from pathlib import Path

from applier.cli import main as applier
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.browser import CHROMIUM, browser

PICTURES = Path(__file__).resolve().with_name("pictures")
WIDE, NARROW = 1100, 400
DRAWN = [("summary", WIDE, "light", 1045), ("report", WIDE, "dark", 780), ("conflicts", WIDE, "light", 560),
         ("summary-narrow", NARROW, "dark", 960)]
"""A picture, the width of its window, its theme, and how much of the page it shows."""
FROM_CONFLICTS = """(() => {
    const cards = [...document.querySelectorAll('main > *')];
    const first = cards.find(one => one.innerText.startsWith('Conflicts'));
    cards.filter(one => one !== first).forEach(one => one.remove());
    document.querySelector('header').remove();
})()"""


def main() -> int:
    if CHROMIUM is None:
        print("chromium is needed, as Debian has it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        make_pages()
        with browser(Path(folder)) as tab:
            for name, width, theme, height in DRAWN:
                tab.look(Path(f"{name.removesuffix('-narrow')}.html"), width, theme)
                if name == "conflicts":
                    tab.ask(FROM_CONFLICTS)
                (PICTURES / f"{name}.png").write_bytes(tab.picture(height))
    return 0


def make_pages() -> None:
    """In the working directory: of the whole archive, of a replay up to a time, and of one that goes over a part of the
    log twice."""
    Path("backup").symlink_to(ARCHIVE)
    run("summary", "--binlogs", "backup", "--html", "summary.html")
    run("replay", "--binlogs", "backup", "--stop-datetime", "2026-03-14 10:30:00", "--output", "before")
    run("report", "before", "--html", "report.html")
    run("replay", "--base", "before", "--binlogs", "backup", "--start-position", "binlog.000002:4",
        "--exec-mode", "idempotent", "--output", "mended")
    run("report", "mended", "--html", "conflicts.html")


def run(*words: str) -> None:
    if applier([*words, "-q"]):
        raise SystemExit(f"applier {words[0]} failed")


if __name__ == "__main__":
    sys.exit(main())
