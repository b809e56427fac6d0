"""What pages for people are made of: one HTML file each, which needs neither a network nor scripts.

    escaping   text of logs as text of HTML
    style      how it looks: light and dark, wide and narrow
    parts      what colours mean
    document   the frame of a page, its cards, tiles, facts and tables
    bars       plots: a bar for each of several things
    ticks      round numbers and times for axes
    timeline   plots: a column for each step in time, of all tables and of each

Everything is drawn in percent of its place, and words are text beside the drawing: so a plot is as wide as its place,
and its words stay readable.
"""

__all__ = ["bars", "document", "escaping", "parts", "style", "ticks", "timeline"]
