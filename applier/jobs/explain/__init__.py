"""What a replay would search by which key, and why: told from the outlines of the binlogs, without replaying them.

    layouts      which columns the before-images of a table have
    searches     how rows are found by each layout of each version of a table (keysearch.choose)
    definitions  how the definition of each table came about
    job          from binlogs to the searches of all tables
    text         that for people
"""

__all__ = ["definitions", "job", "searches"]
