"""How large a pass is where nobody says."""

import os
import shutil
from types import SimpleNamespace

import pytest

from applier.engine import room
from applier.engine.room import memory_bytes, room_for_pass


@pytest.mark.parametrize("memory, free, here, elsewhere", [
    (16, 10_000, 4_096, 4_096),
    (16, 100, 50, 4_096),
    (16, 0, 1, 4_096),
])
def test_a_pass_fits_in_memory_and_on_the_disk_that_tasks_share(memory, free, here, elsewhere, monkeypatch):
    """In gigabytes; workers on other machines have disks of their own."""
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": memory << 18, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(room, "MEMBERSHIP", "/dev/null")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free << 30))
    assert room_for_pass("/shared") >> 30 == here
    assert room_for_pass(None) >> 30 == elsewhere


@pytest.mark.parametrize("membership, files, gigabytes", [
    ("0::/pods/one", {"pods/one/memory.max": "max", "pods/memory.max": 6 << 30, "memory.max": 9 << 30}, 6),
    ("0::/", {"memory.max": 3 << 30}, 3),
    ("0::/pods/one", {"memory.max": "max"}, 16),
    ("9:memory:/docker/a1\n8:cpu,cpuacct:/docker/a1", {"memory/memory.limit_in_bytes": 2 << 30, "memory.max": 1}, 2),
    ("9:memory:/a", {"memory/a/memory.limit_in_bytes": 5 << 30, "memory/memory.limit_in_bytes": 2**63 - 4096}, 5),
    ("1:name=systemd:/a", {"a/memory.max": 1}, 16),
], ids=["v2", "v2 of a container", "v2 without a limit", "v1 of a container", "v1", "no memory controller"])
def test_a_container_has_the_memory_of_its_limit(membership, files, gigabytes, tmp_path, monkeypatch):
    """And not the machine's, which would end in the kernel killing it."""
    for name, limit in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(f"{limit}\n")
    (tmp_path / "membership").write_text(membership + "\n")
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 16 << 18, "SC_PAGE_SIZE": 4096}.get)
    monkeypatch.setattr(room, "MEMBERSHIP", str(tmp_path / "membership"))
    monkeypatch.setattr(room, "GROUPS", tmp_path / "groups")
    assert memory_bytes() == gigabytes << 30
