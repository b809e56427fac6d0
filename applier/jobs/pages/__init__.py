"""The parts of HTML pages: each page is one file, which needs neither a network nor scripts.

    style       appearance: light and dark, wide and narrow
    parts       escaped text, the legend of a plot, and bars
    document    the frame of a page, its cards, tiles, facts and tables
    diff_totals what both pages say of JSON diffs
    ticks       round numbers and times for axes
    timeline    plots: one column per time step, of all tables and of each

Everything is drawn in percent of its container, and words are text beside the drawing: so a plot fits any width,
and its words stay readable.
"""

__all__ = ["diff_totals", "document", "parts", "style", "ticks", "timeline"]
