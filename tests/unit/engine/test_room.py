"""How large a pass is where nobody says."""

import os
import shutil
from types import SimpleNamespace

import pytest

from applier.engine.room import room_for_pass


@pytest.mark.parametrize("memory, free, here, elsewhere", [
    (16, 10_000, 4_096, 4_096),
    (16, 100, 50, 4_096),
    (16, 0, 1, 4_096),
])
def test_a_pass_fits_in_memory_and_on_the_disk_that_tasks_share(memory, free, here, elsewhere, monkeypatch):
    """In gigabytes; workers on other machines have disks of their own."""
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": memory << 18, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free << 30))
    assert room_for_pass(on_one_disk=True) >> 30 == here
    assert room_for_pass(on_one_disk=False) >> 30 == elsewhere
