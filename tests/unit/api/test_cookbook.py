"""The commands of the cookbook do what it shows."""

import re
import shlex
import shutil

import pytest

from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import ROOT

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "COOKBOOK.md").read_text()


def commands():
    """Each command, and the lines that stand below it."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE):
        for part in block.split("$ applier ")[1:]:
            command, *shown = part.splitlines()
            yield shlex.split(command), shown


def test_what_commands_show_is_what_the_page_shows(tmp_path, monkeypatch, capsys):
    """In its order; a line of the page may be a part of the line that is printed, with other spaces."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ARCHIVE, "backup", ignore=shutil.ignore_patterns("*.json"))
    found = list(commands())
    assert len(found) == 7
    for command, shown in found:
        assert cli.main(command) == 0, command
        printed = " ".join(capsys.readouterr().out.replace("█", "").split())
        for line in shown:
            assert " ".join(line.split()) in printed, (command, printed)
