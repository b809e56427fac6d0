"""Where in an archive an event group is: by its GTID, its time, its xid or its group id, without decoding rows (GRP-4).

`search` finds it: by the heads of files, or by an index that is kept beside them (`index`), and one pass over what is
left (`groups`). What is looked for is a `targets.Target`.
"""

__all__ = ["groups", "heads", "search", "targets"]
