"""The files that a wheel installs below `share`: manual pages and completion.

`python -m applier.cli.help.installed_pages FOLDER` writes them, as the build does (build-backend).
"""

import sys
from pathlib import Path

from applier.cli.help.completions import completions
from applier.cli.help.man_pages import manual


def write(share: Path) -> None:
    """Write all of them below this folder."""
    pages = {f"man/man1/{name}": text for name, text in manual().items()}
    for path, text in (pages | completions()).items():
        file = share / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
