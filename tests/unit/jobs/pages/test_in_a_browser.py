"""The pages in a real browser: at the widths of a desk and of a telephone, in both themes."""

from datetime import UTC, datetime, timedelta

import pytest

import applier
from applier.binlog import Writer
from applier.engine.executor import ThisProcess
from applier.jobs.pages.document import document, tiles
from applier.jobs.replay.job import replay_with
from applier.jobs.report.loading import load_report
from applier.jobs.report.page import html_page
from applier.options import ReplayOptions
from tests.support.browser import CHROMIUM, browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")

MIDNIGHT = datetime(2026, 3, 14, tzinfo=UTC)
HOSTILE = "a<img src=x onerror=alert(1)><script>alert(1)</script>" + "x" * 10
PAGES, WIDTHS, THEMES = ("summary", "report"), (1280, 400), ("light", "dark")
STICKING_OUT = """[...document.querySelectorAll('body *')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && (box.left < 0 || box.right > innerWidth + .5) && !one.closest('.scroll, .hover');
}).map(one => one.outerHTML.slice(0, 200))"""
FIGURES_WITHOUT_MARKS = """[...document.querySelectorAll('figure')].filter(one =>
    ![...one.querySelectorAll('svg path, svg rect:not(.hover)')].some(mark => {
        const box = mark.getBoundingClientRect(), fill = getComputedStyle(mark).fill;
        return box.width >= 1 && box.height >= 1 && fill.startsWith('rgb(') && fill !== 'rgb(0, 0, 0)';
    })).map(one => one.innerText)"""
COVERING_EACH_OTHER = """[...document.querySelectorAll('.times, .marks')].flatMap(row => {
    const boxes = [...row.children].map(one => one.getBoundingClientRect()).filter(box => box.width);
    return boxes.slice(1).filter((box, before) => box.left < boxes[before].right).map(box => row.className);
})"""
COLOURS = """['.kind', 'h1', '.lead', '.tiles dt', 'figcaption', '.value', '.meta', '.statement', 'th', 'td', '.tick',
        '.number', '.marks a', '.facts dt', '.stop', '.track span'].flatMap(name => {
    const one = document.querySelector(name);
    if (!one) return [];
    let behind = one;
    while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
    return [[name, getComputedStyle(one).color, getComputedStyle(behind ?? document.body).backgroundColor]];
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Both pages of a log of three whole days with 14 tables, one with a name that means something to HTML, an
    accident, DDL, and changes that conflict."""
    folder = tmp_path_factory.mktemp("pages")
    tables = ["orders", HOSTILE, "inventory_movements_of_all_warehouses_since_2024", *(f"t{n}" for n in range(11))]
    with Writer(folder / "binlog.000001", time=MIDNIGHT) as log:
        log.query("CREATE DATABASE shop")
        for number, table in enumerate(tables):
            log.query(f"CREATE TABLE shop.`{table}` (id INT PRIMARY KEY, v VARCHAR(9))")
            for hour in range(0, 72, 1 + number):
                ids = [100 * hour + row for row in range(2 + number)]
                with log.transaction(MIDNIGHT + timedelta(hours=hour)):
                    log.insert(f"shop.{table}", {"id": ids, "v": ["x"] * len(ids)})
                    log.update(f"shop.{table}", {"id": ids[:2]}, {"v": ["y"] * 2})
        log.query(f"ALTER TABLE shop.orders COMMENT '{HOSTILE}'")
        for table, ids in ((HOSTILE, [1, 2]), ("orders", list(range(1000)))):
            with log.transaction(MIDNIGHT + timedelta(hours=71, minutes=59)):
                log.delete(f"shop.{table}", {"id": ids})
    (folder / "summary.html").write_text(applier.summary(folder).to_html())
    replay_with(ThisProcess(), ReplayOptions((str(folder),), str(folder / "out"), exec_mode="idempotent"))
    (folder / "report.html").write_text(html_page(load_report(str(folder / "out"))))
    return folder


@pytest.fixture(scope="module")
def tab(folder):
    with browser(folder) as tab:
        yield tab


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_and_has_its_plots_at_each_width_in_each_theme(folder, tab, page):
    backgrounds = set()
    for theme in THEMES:
        for width in WIDTHS:
            tab.look(folder / f"{page}.html", width, theme)
            where = f"{page}, {width} wide, {theme}"
            assert tab.ask("document.documentElement.scrollWidth") <= width, where
            for wrong in (STICKING_OUT, FIGURES_WITHOUT_MARKS, COVERING_EACH_OTHER):
                assert not tab.ask(wrong), where
            for name, text, behind in tab.ask(COLOURS):
                assert contrast(text, behind) >= 4.5, f"{where}: {name}: {text} on {behind}"
            asked = [one["params"]["request"]["url"] for one in tab.said
                     if one.get("method") == "Network.requestWillBeSent"]
            assert asked == [(folder / f"{page}.html").as_uri()], where
            wrong = [one for one in tab.said if one.get("method") in (
                "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening")]
            assert not wrong, where
        backgrounds.add(tab.ask("getComputedStyle(document.body).backgroundColor"))
        assert HOSTILE in tab.ask("document.body.textContent")
    assert len(backgrounds) == len(THEMES)


def test_no_width_breaks_a_number(folder, tab):
    page = folder / "tiles.html"
    page.write_text(document("", "", "", [tiles([("row changes", "123,456,789,012", "")] * 8)], ""))
    for width in (1280, 720, 400):
        tab.look(page, width, "light")
        assert tab.ask("document.documentElement.scrollWidth") <= width
        assert tab.ask("""[...document.querySelectorAll('dd')].every(one =>
            one.clientHeight < 2 * parseFloat(getComputedStyle(one).fontSize) && one.scrollWidth <= one.clientWidth)""")


def contrast(one: str, other: str) -> float:
    """Between two colours as browsers write them, as WCAG 2 defines it."""
    darker, lighter = sorted(luminance(colour) for colour in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
