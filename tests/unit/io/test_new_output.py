"""Files and directories that people name for output: whole or not there."""

import errno
import os
import stat
from pathlib import Path

import pytest

from applier import cli
from applier.errors import ApplierError, UsageError
from applier.io.disk.new_files import new_output
from tests.recorded.archives.demo_digest import ARCHIVE


def test_a_file_has_its_name_when_it_is_complete(tmp_path):
    with new_output(str(tmp_path / "a")) as partial:
        Path(partial).write_text("text")
        assert not (tmp_path / "a").exists()
    assert os.listdir(tmp_path) == ["a"]
    with pytest.raises(UsageError, match="already exists"), new_output(str(tmp_path / "a")):
        raise AssertionError


@pytest.mark.parametrize("replaces", [False, True])
@pytest.mark.parametrize("is_directory", [False, True])
def test_a_full_disk_leaves_nothing_and_names_the_file(tmp_path, replaces, is_directory):
    path = tmp_path / "out"
    if replaces and not is_directory:
        path.write_text("before")
    with pytest.raises(ApplierError, match="cannot write: No space left on device") as error, \
            new_output(str(path), replaces=replaces) as partial:
        if is_directory:
            os.mkdir(partial)
        Path(partial, "x" * is_directory).write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert error.value.file == str(path) and "free space" in error.value.hint
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"] * (replaces and not is_directory)


def test_what_is_replaced_keeps_its_mode_and_its_link(tmp_path):
    (tmp_path / "page").write_text("before")
    (tmp_path / "page").chmod(0o600)
    (tmp_path / "link").symlink_to("page")
    with new_output(str(tmp_path / "link"), replaces=True) as partial:
        Path(partial).write_text("after")
    assert (tmp_path / "page").read_text() == "after" and (tmp_path / "link").is_symlink()
    assert stat.S_IMODE((tmp_path / "page").stat().st_mode) == 0o600


def test_a_device_is_written_directly():
    with new_output("/dev/null", replaces=True) as partial:
        assert partial == "/dev/null"


@pytest.mark.slow
@pytest.mark.parametrize("words", [["summary", "--html"], *(["diff", "--format", form, "--output"]
                                                            for form in ("json", "sql", "parquet"))])
def test_every_verb_that_writes_a_file_does_so(tmp_path, words, monkeypatch, capsys):
    """A disk that is full when the file is to reach it: no part of it stays."""
    def full(paths):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = ["--binlogs", str(ARCHIVE)]
    if words[0] == "diff":
        for name, stop in (("before", ["--stop-position", "binlog.000002:745606"]), ("after", [])):
            assert cli.main(["replay", *source, *stop, "--output", str(tmp_path / name)]) == 0
        source = [str(tmp_path / "before"), str(tmp_path / "after")]
    before = sorted(os.listdir(tmp_path))
    for name in ("sync", "sync_tree"):
        monkeypatch.setattr(f"applier.io.disk.durable.{name}", full)
    assert cli.main([words[0], *source, *words[1:], str(tmp_path / "out")]) == 2
    assert "No space left on device" in (said := capsys.readouterr().err) and str(tmp_path / "out") in said
    assert sorted(os.listdir(tmp_path)) == before
