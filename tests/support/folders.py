"""Where the recorded files are."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "recorded"
CASES = RECORDED / "cases"
ARCHIVES = RECORDED / "archives"
DUMPS = RECORDED / "importing" / "dumps"
HOSTILE = ROOT / "tests" / "fuzz" / "hostile"
