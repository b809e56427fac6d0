"""The commands of the cookbook do what it shows."""

import re
import shlex
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

import applier.binlog
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


def partitioned_orders():
    """The archive `orders`: a table, and statements that empty and drop partitions."""
    Path("orders").mkdir()
    with applier.binlog.Writer("orders/orders.000001", time=datetime(2026, 3, 14, 12, tzinfo=UTC)) as log:
        log.query("CREATE DATABASE shop")
        log.query("CREATE TABLE orders (id INT NOT NULL, year INT NOT NULL, PRIMARY KEY (id, year)) PARTITION BY RANGE "
                  "(year) (PARTITION p24 VALUES LESS THAN (2025), PARTITION p25 VALUES LESS THAN (2026), PARTITION p26 "
                  "VALUES LESS THAN MAXVALUE)", "shop")
        with log.transaction():
            log.insert("shop.orders", {"id": [1, 2, 3, 4], "year": [2024, 2025, 2025, 2026]})
        log.query("ALTER TABLE orders TRUNCATE PARTITION p25", "shop")
        with log.transaction():
            log.insert("shop.orders", {"id": [5], "year": [2025]})
        log.query("ALTER TABLE orders DROP PARTITION p24", "shop")


def test_what_commands_show_is_what_the_page_shows(tmp_path, monkeypatch, capsys):
    """In its order; a line of the page may be a part of the line that is printed, with other spaces."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ARCHIVE, "backup", ignore=shutil.ignore_patterns("*.json"))
    partitioned_orders()
    found = list(commands())
    assert len(found) == 9
    for command, shown in found:
        assert cli.main(command) == 0, command
        printed = " ".join(capsys.readouterr().out.replace("█", "").split())
        for line in shown:
            assert " ".join(line.split()) in printed, (command, printed)
