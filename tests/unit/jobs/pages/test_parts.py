"""What pages are made of: plots that are to scale, axes with round numbers, and text of logs that stays text."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from applier.io.printable import printable
from applier.jobs.pages import ticks
from applier.jobs.pages.document import card, document, facts_list, grid, statement, tiles, warnings
from applier.jobs.pages.parts import KINDS, Part, bars
from applier.jobs.pages.timeline import Mark, Steps, small_timeline, timeline

NOON = 1_773_489_600  # 2026-03-14 12:00:00 UTC
HOUR = 3600


class Elements(HTMLParser):
    """The names of all elements and attributes, and all text: of elements, and of attributes."""

    def __init__(self, html):
        super().__init__()
        self.names, self.texts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.names.append((tag, *(name for name, _ in attributes)))
        self.texts += [value for _, value in attributes]

    def handle_data(self, data):
        self.texts.append(data)


def everything(text):
    """A page with a text in all places that take one."""
    steps, values = Steps(NOON, HOUR, 1), [(text, (1, 0, 2))]
    mark = Mark(NOON, text, text, text)
    return document(text, text, text, [
        tiles([(text, text, "")]), warnings([text]), card(text, facts_list([(text, text)]), statement(text)),
        bars(text, [(text, (1, 2))], (Part(text, "one"), Part(text, "scan"))), grid(text, [text], [[text], [text]]),
        timeline(text, steps, values, KINDS, [mark], [mark]), small_timeline(text, steps, values, KINDS)], text)


@given(st.text(min_size=1, max_size=20).map(lambda text: f"t{text}t"))
def test_text_is_text_wherever_it_stands(text):
    """No text makes an element or an attribute, and none is lost."""
    page = Elements(everything(text))
    assert page.names == Elements(everything("t")).names
    assert sum(printable(text) in found for found in page.texts) >= sum(found == "t" for found in
                                                                        Elements(everything("t")).texts)


def test_bars_are_to_scale():
    drawn = bars("t", [("a", (1, 3)), ("b", (0, 8)), ("none", (0, 0))], (Part("x", "one"), Part("y", "scan")))
    places = [tuple(map(float, found)) for found in re.findall(r'<rect [^>]*x="([\d.]+)%" width="([\d.]+)%"', drawn)]
    assert places == [(0, 12.5), (12.5, 37.5), (0, 100)]
    assert "a: 1 x, 3 y" in drawn and "b: 8 y" in drawn and "none: none" in drawn


def test_columns_stand_at_their_time_and_on_each_other():
    """Of 24 hours, the first and the last: 4 inserts with 1 delete on top, and 2 updates; the axis ends at 8."""
    values = [(str(hour), (0, 0, 0)) for hour in range(24)]
    values[0], values[23] = ("first", (4, 0, 1)), ("last", (0, 2, 0))
    drawn = timeline("t", Steps(NOON, HOUR, 24), values, KINDS)
    paths = {kind: tuple(map(float, place)) for kind, *place in re.findall(
        r'<path class="(\w+)" d="M([\d.]+) ([\d.]+)h.88v([\d.]+)h', drawn)}
    top = ticks.of_numbers(5)[-1]
    high = 100 / top
    assert paths == {"inserted": pytest.approx((0.06, 100 - 4 * high, 4 * high), abs=0.01),
                     "deleted": pytest.approx((0.06, 100 - 5 * high, high), abs=0.01),
                     "updated": pytest.approx((23.06, 100 - 2 * high, 2 * high), abs=0.01)}
    assert "first: 4 inserted, 1 deleted" in drawn and "Most at first" in drawn


def test_marks_that_would_cover_each_other_are_one():
    """Where there is room, 1 and 3, and 2 on its own; on a narrow screen, 4 and 2, too."""
    marks = [Mark(NOON + 60, "1", "one", "a"), Mark(NOON + 12 * HOUR, "2", "two", "b"), Mark(NOON, "3", "three", "c"),
             Mark(NOON + 10 * HOUR, "4", "four", "d")]
    drawn = timeline("t", Steps(NOON, HOUR, 24), [("", (1, 0, 0))] * 24, KINDS, marks)
    assert re.findall(r'<a href="#(\w)" style="left:([\d.]+)%" title="([^"]*)">(.*?)</a>', drawn) == [
        ("a", "0.07", "three&#10;one", "1<small>+1</small>"), ("d", "41.67", "four", "4"), ("b", "50.00", "two", "2"),
        ("a", "0.07", "three&#10;one", "1<small>+1</small>"), ("b", "50.00", "four&#10;two", "2<small>+1</small>")]


@pytest.mark.parametrize("highest", [0, 1, 3, 4, 5, 99, 100, 101, 9_256, 10**12 + 1])
def test_axes_have_up_to_five_round_numbers(highest):
    numbers = ticks.of_numbers(highest)
    assert 2 <= len(numbers) <= 5 and numbers[0] == 0 and numbers[-1] >= highest
    assert all(str(int(number)).rstrip("0") in ("", "1", "2", "3", "4", "5", "6", "8", "15") for number in numbers), \
        numbers


@pytest.mark.parametrize("most", [4, 7])
@pytest.mark.parametrize("seconds", [0, 59, HOUR, 5 * HOUR, 86400, 40 * 86400, 3650 * 86400])
def test_axes_have_so_many_times_at_most_with_each_date_once(seconds, most):
    times = ticks.of_times(NOON, NOON + seconds, most)
    assert 1 <= len(times) <= most and NOON <= times[0] and times[-1] <= NOON + seconds
    dates = [date for time, before in zip(times, [None, *times], strict=False)
             if (date := ticks.time_label(time, before)[1])]
    days = sorted({f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d}" for time in times})
    assert dates == [day if day[:4] not in (before[:4] for before in days[:place]) else day[5:]
                     for place, day in enumerate(days)]
