"""`make demo` on a terminal of 80 columns: from the mistake to the pages, compared with the server on its way."""

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios

import pytest

from tests.support.folders import ROOT


def on_a_terminal(command, folder, columns):
    """What a command shows on a terminal, without colours."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "DISPLAY")}
    with subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL,
                          env=environment | {"PYTHONPATH": str(ROOT), "TERM": "xterm"}) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 1 << 16):
                shown += part
        except OSError:  # EIO: the other side is closed
            pass
    os.close(ours)
    text = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown.decode()).replace("\r\n", "\n")
    assert process.returncode == 0, text
    return text


@pytest.mark.slow
def test_the_demo_goes_to_the_end(tmp_path):
    """It ends with an error itself where the lake does not hold what the server held."""
    shown = on_a_terminal([sys.executable, "-m", "tests.recorded.archives.demonstrate"], tmp_path, 80)
    lines = [line for line in shown.splitlines() if "file://" not in line]
    assert max(map(len, lines)) <= 80, max(lines, key=len)
    steps = ("140 updates of shop.products", "price: 8.31 → 0.01", "what the server held just before the mistake",
             "what the server held at the end of the log", "shop.products      0    0      140",
             "UPDATE `shop`.`products`", "in all other tables", "all tables at once",
             "│ AU00002 │           0.01 │           267.54 │", "Done")
    places = [" ".join(shown.split()).find(" ".join(step.split())) for step in steps]
    assert -1 not in places and places == sorted(places), dict(zip(steps, places, strict=True))
    pages = [tmp_path / "demo" / name for name in ("summary.html", "report.html")]
    assert all(page.as_uri() in shown and "<svg" in page.read_text() for page in pages)
