"""Where the recorded files are, and a folder that others can enter."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "recorded"
CASES = RECORDED / "cases"
ARCHIVES = RECORDED / "archives"
DUMPS = RECORDED / "importing" / "dumps"
HOSTILE = ROOT / "tests" / "fuzz" / "hostile"


@contextmanager
def open_folder() -> Iterator[Path]:
    """A new folder that other users can enter; it is gone afterwards."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
