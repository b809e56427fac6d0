"""The report of the run that made a snapshot, for people who have to explain a recovery.

    loading    a snapshot's `_report.json`, manifest, and the first of its conflicts
    page       the whole report as one self-contained HTML file
"""

__all__ = ["loading", "page"]
