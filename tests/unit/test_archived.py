"""The package imported from a zip, as Spark sends it, unpacks itself into the cache and is imported from there."""

import os
import subprocess
import sys
import zipfile

import pytest

from tests.support.folders import ROOT

SAYS = """
import applier.kernels.catalogue, keysearch.kernel_cache, jsondiff, applier.archived
print(applier.__file__, keysearch.kernel_cache.ROOT, jsondiff.__file__, applier.archived.source, sep="\\n")
"""


@pytest.mark.slow
def test_a_zip_is_unpacked_once(tmp_path):
    with zipfile.ZipFile(tmp_path / "some.zip", "w") as archive:
        for package in ("applier", "jsondiff", "keysearch"):
            for file in (ROOT / package).rglob("*.py"):
                archive.write(file, file.relative_to(ROOT))
        archive.writestr("other/file", "")
    found = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SAYS], cwd=tmp_path, capture_output=True, text=True,
                              env=os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": "some.zip"})
        assert done.returncode == 0, done.stderr
        [folder] = (tmp_path / "cache" / "mysql-binlog-applier").glob("unpacked-*")
        assert done.stdout.splitlines() == [f"{folder}/applier/__init__.py", str(folder),
                                            f"{folder}/jsondiff/__init__.py", str(tmp_path / "some.zip")]
        assert {entry.name for entry in folder.iterdir()} == {"applier", "jsondiff", "keysearch"}
        found.append((folder, folder.stat().st_mtime_ns))
    assert found[0] == found[1]
