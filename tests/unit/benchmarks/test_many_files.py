"""The archive of many files: each follows on the one before, and a tenth of them is an archive, too."""

from pathlib import Path

from applier.binlog.locating.search import locate
from applier.binlog.locating.targets import target_of
from applier.writer.writer import SOURCE
from benchmarks import many_files


def test_the_files_are_one_archive(tmp_path: Path) -> None:
    few, all_ = many_files.measured(str(tmp_path), 30)
    assert few.keys() == all_.keys() == {"outline", "plan", "apply", "locate by heads", "index", "locate by index"}
    assert len(list((tmp_path / "few").glob("binlog.*"))) == 3 and len(list((tmp_path / "all").glob("binlog.*"))) == 30
    [group] = locate([str(tmp_path / "all")], target_of(f"{SOURCE}:150", None, None, None))
    assert group.file == "binlog.000015"
