"""Outlines as of large files: a plan takes them for what they are."""

from pathlib import Path

from benchmarks import scale


def test_a_plan_of_twenty_files(tmp_path: Path) -> None:
    kilobytes, _, _, units, walks, _, _, splits, _, _ = scale.planned(str(tmp_path), 20)
    assert kilobytes > 20 and units >= walks >= 20 * (1 << 30) // (512 << 20) and splits == 20 * 16 + 1
    assert list(tmp_path.iterdir()) == []
