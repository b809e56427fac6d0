"""docs/CHANGES.md shows what commands print."""

import re
import shlex

import pytest

from applier import cli
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support.folders import ROOT

PAGE = (ROOT / "docs" / "CHANGES.md").read_text()
EXAMPLES = re.findall(r"```console\n\$ applier (.*?) \| grep (\S+) \| head -1\n(.*?)\n```", PAGE)


def test_the_page_has_examples():
    assert len(EXAMPLES) == PAGE.count("```console") == 2


@pytest.mark.slow
@pytest.mark.parametrize(("command", "pattern", "line"), EXAMPLES)
def test_an_example_prints_what_the_page_shows(command, pattern, line, capfdbinary):
    assert cli.main([str(ARCHIVE) if word == "backup" else word for word in shlex.split(command)]) == 0
    printed = capfdbinary.readouterr().out.decode().splitlines()
    assert next(found for found in printed if pattern.strip("'") in found) == line
