"""What pages for people are made of: one HTML file each, which needs neither a network nor scripts.

    style      how it looks: light and dark, wide and narrow
    parts      escaped text, the legend of a plot, and bars
    document   the frame of a page, its cards, tiles, facts and tables
    ticks      round numbers and times for axes
    timeline   plots: a column for each step in time, of all tables and of each

Everything is drawn in percent of its place, and words are text beside the drawing: so a plot is as wide as its place,
and its words stay readable.
"""

__all__ = ["document", "parts", "style", "ticks", "timeline"]
