"""By which keys a replay would find rows, and why, derived from the outlines of the binlogs without replaying them.

    layouts      which columns the before-images of a table have
    searches     how rows are found by each layout of each version of a table (keysearch.choose)
    definitions  where the definition of each table comes from
    job          from binlogs to the searches of all tables
    text         the result as text
"""

__all__ = ["definitions", "job", "searches"]
