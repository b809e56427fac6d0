"""The commands in README and docs do what the pages show, and none has an option that there is not."""

import re
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

import applier.binlog
from applier.cli import application
from tests.recorded.archives.demo_digest import ARCHIVE
from tests.support import documented
from tests.support.folders import ROOT

GROUP = typer.main.get_command(application.app)
VERBS = GROUP.commands


def name_of(page):
    return str(page.relative_to(ROOT))


def demo():
    shutil.copytree(ARCHIVE, "backup", ignore=shutil.ignore_patterns("*.json"))


def partitioned_orders():
    """A table, and statements that empty and drop partitions."""
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


ARCHIVES = {"backup": demo, "orders": partitioned_orders}
"""What the pages' commands find in the working directory."""


@pytest.fixture
def reader(tmp_path, monkeypatch):
    """The working directory of somebody who follows a page, in UTC."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in documented.PAGES if list(documented.runnable(page))], ids=name_of)
def test_what_runs_prints_what_the_page_shows(page, reader):
    text = page.read_text()
    for name, make in ARCHIVES.items():
        if re.search(rf"\b{name}\b", text):
            make()
    known = {}
    for part in documented.runnable(page):
        if isinstance(part, str):
            documented.run_doctest(part, name_of(page), known)
        else:
            for shown in part:
                documented.run(shown)


@pytest.mark.parametrize("page", documented.PAGES, ids=name_of)
def test_every_command_line_is_one_that_the_program_takes(page, monkeypatch, capsys):
    for verb in VERBS.values():
        monkeypatch.setattr(verb, "callback", lambda **given: None)
    for words in documented.command_lines(page, set(VERBS)):
        try:
            GROUP.main(words, standalone_mode=False)
        except typer.TyperException as error:
            pytest.fail(f"applier {' '.join(words)}: {error.format_message()}")
    for verb, options in documented.named_options(page, set(VERBS)):
        known = {name for param in VERBS[verb].params for name in (*param.opts, *param.secondary_opts)}
        assert set(options) <= known | {"--help", "--help-all"}, verb


def test_targets_of_make_are_there():
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {target for page in documented.PAGES for target in documented.targets(page)} <= known
