"""Where a replica's sequences stand when it gives their numbers to rows: at what the log says is reserved.

With minimal images a row of a sequence's table has only the next number; how the sequence counts is in its CREATE
SEQUENCE. Source: MariaDB's "CREATE SEQUENCE"; judged by MariaDB 10.5, 10.11 and 11.8.
"""

from __future__ import annotations

from dataclasses import replace

from applier.mysql.sequences import SequenceState
from applier.schema.ddl.schema_changes import Ignored
from applier.schema.history.conversion import RowConversion
from applier.schema.history.table_versions import BEFORE_THE_LOG, StatementOrigin, TableVersions
from applier.sql.tokens import tokenize

_HIGHEST = 2**63 - 2


class DrawnSequences:
    """The sequences of `tables` from which rows get numbers."""

    def __init__(self, tables: TableVersions) -> None:
        self._tables = tables
        self._drawn = set[int]()  # sequences, by their versions, from which a replica gave numbers to rows
        self._altered = set[int]()

    def alter(self, change: Ignored) -> None:
        """Take note of a statement that may be ALTER SEQUENCE."""
        versions = [self._tables.live((database, name)) for database, name in change.names if name is not None]
        self._altered.update(version.id for version in versions if version is not None)

    def known(self, conversion: RowConversion, origin: StatementOrigin) -> tuple[SequenceState, ...]:
        """Return where a replica's sequences stand that rows get numbers of: as the log says, of those that it has
        made, and as long as the replica has taken no numbers of them by itself."""
        logged = {(state.database, state.name): state for state in origin.sequences}
        found = []
        for name in dict.fromkeys(conversion.drawn.values()):
            version, state = self._tables.live(name), logged.get(name)
            if version is None or version.id in self._drawn:
                continue
            self._drawn.add(version.id)
            if state is None or not BEFORE_THE_LOG < version.start < (origin.end[0], state.position):
                continue
            if not state.step and version.id not in self._altered:
                state = with_limits(state, version.created_by)
            found.append(state)
        return tuple(found)


def with_limits(state: SequenceState, sql: str) -> SequenceState:
    """Return the state with the step and the limits that CREATE SEQUENCE gives; unchanged if the statement is another
    one, or names a type."""
    words = [token for token in tokenize(sql, flavour="mariadb") if token.kind != "end"]
    upper = [token.text.upper() if token.kind in ("word", "number") else token.text if token.kind == "sign" else ""
             for token in words]
    if upper[:1] != ["CREATE"] or "SEQUENCE" not in upper or "AS" in upper:
        return state
    given: dict[str, int] = {}
    for at, word in enumerate(upper):
        if word in ("INCREMENT", "MINVALUE", "MAXVALUE"):
            behind = [text for text in upper[at + 1:at + 5] if text not in ("BY", "=")]
            is_negative = behind[:1] == ["-"]
            if len(behind) > is_negative and behind[is_negative].isdigit():
                given[word] = -int(behind[1]) if is_negative else int(behind[0])
    step = given.get("INCREMENT", 1)
    lowest, highest = (1, _HIGHEST) if step >= 0 else (-_HIGHEST - 1, -1)
    return replace(state, step=step, minimum=given.get("MINVALUE", lowest), maximum=given.get("MAXVALUE", highest))
