"""Positions in MariaDB's replication domains.

A position is the (server id, sequence number) of a domain's last group. After a failover the groups of one domain come
from several servers, so a sequence number alone does not name a group: 0-1-4 and 0-2-4 are different groups. The state
of a log has the last number of each server, as in MariaDB's Gtid_list events and @@gtid_binlog_state. With it, a source
decides whether its log has the position of a replica; so does this module.
"""

from collections.abc import Mapping

Position = tuple[int, int]
"""Server id and sequence number."""
State = Mapping[int, int]
"""The last sequence number of each server id."""


def is_executed(group: Position, state_after_group: State | None, position: Position, state: State | None) -> bool:
    """Return True if a group was executed where a domain stands at `position`.

    `state` and `state_after_group` are the states of the log at both, None where they are not known. If only the
    latter is known, a position that it does not have comes later, or in another history: whoever asks has to find it.
    If neither is known, sequence numbers decide, which grow within a domain unless gtid_strict_mode is OFF.
    """
    if group == position:
        return True
    if state is not None:
        return group[1] <= state.get(group[0], -1)
    if state_after_group is not None:
        return position[1] > state_after_group.get(position[0], -1)
    return group[1] <= position[1] if group[0] == position[0] else group[1] < position[1]
