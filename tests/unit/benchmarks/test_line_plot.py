"""Plots of the benchmarks: points stand where their values belong, and names beside their lines."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from benchmarks.line_plot import Line, plot

SVG = "{http://www.w3.org/2000/svg}"


def drawn(*lines):
    return ElementTree.fromstring(plot("time <of> a replay", "MB", "seconds", lines))


def points(svg):
    return [[tuple(map(float, point.split(","))) for point in line.get("points").split()]
            for line in svg.iter(f"{SVG}polyline")]


def test_axes_are_logarithmic():
    """Each tenfold step is as wide, to the right and up, as the grid's lines are apart."""
    [line] = points(drawn(Line("local", [(1, 0.1), (10, 1), (100, 10)])))
    (x1, y1), (x2, y2), (x3, y3) = line
    assert x2 - x1 == pytest.approx(x3 - x2) and y1 - y2 == pytest.approx(y2 - y3)
    assert x1 < x2 and y1 > y2


def test_texts_are_data():
    texts = [text.text for text in drawn(Line("a<b", [(1, 1), (2, 2)])).iter(f"{SVG}text")]
    assert "time <of> a replay" in texts and "a<b" in texts


def test_names_of_lines_that_end_together_do_not_cover_each_other():
    svg = drawn(Line("one", [(1, 1), (9, 5)]), Line("two", [(1, 2), (9, 5)]), Line("three", [(1, 3), (9, 5)]))
    places = sorted(float(text.get("y")) for text in svg.iter(f"{SVG}text") if text.text in ("one", "two", "three"))
    assert all(below - above >= 16 for above, below in pairwise(places))


def test_one_size_has_an_axis_too():
    [[point]] = points(drawn(Line("one", [(5, 5)])))
    assert all(0 < coordinate < 760 for coordinate in point)
