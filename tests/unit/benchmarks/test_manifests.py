"""Snapshots of many links are what a snapshot is."""

from pathlib import Path

import pytest

from applier.snapshot.files import shards
from benchmarks import manifests


@pytest.mark.parametrize("most_inline", [2, 3])
def test_a_snapshot_of_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_inline: int) -> None:
    monkeypatch.setattr(shards, "MOST_INLINE", most_inline)
    megabytes, of_shards, *seconds = manifests.measured(str(tmp_path), 2, 3)
    assert megabytes > 0 and (of_shards > 0) == (most_inline < 3) and min(seconds) > 0
    assert list(tmp_path.iterdir()) == []
