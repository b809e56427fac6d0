"""The report of the run that made a snapshot, for people who have to explain what a recovery did.

    loading    a snapshot's `_report.json`, manifest, and the first of its conflicts
    bars       plots as inline SVG: a bar for each of several things
    timeline   plots as inline SVG: a column for each step in time
    document   the frame of a page
    page       the whole report as one self-contained HTML file
"""

__all__ = ["bars", "document", "loading", "page", "timeline"]
