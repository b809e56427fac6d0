"""Finds event groups in an archive by GTID, time, xid or group id, without decoding rows (GRP-4).

`search` finds them: by the heads of files, or by an index beside them (`index`), and one pass over the rest (`groups`).
A `targets.Target` says what to look for. A `place.Place` is a position that a user names.
"""

__all__ = ["group_choice", "groups", "gtid_choice", "heads", "place", "search", "sessions", "targets"]
