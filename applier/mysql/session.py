"""The session in which SQL is evaluated: everything that affects a result except for the text and the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from applier.errors import NotComputable
from applier.mysql.values.time_zones import shifted

SYSTEM = "SYSTEM"
"""The name of the time zone that a server has from its machine."""


@dataclass(frozen=True)
class Session:
    """`now_us` is the current time in microseconds UTC: one for all rows, int64[n] with one for each row, None where
    it is unknown. `time_zone` is the session's ("+02:00", "Europe/Rome"), or SYSTEM, which the log does not resolve.
    `sql_mode` has the names of modes that change values, `literals` is the character set of literals without an
    introducer and `collation` the one in which they are compared, None where it is unknown, `compares_in` is that in
    which all text is compared, None where the text tells, `made_in` is the character set in which functions make text
    in the session's own, the table's if one is opened, `lc_time_names` is the number of the language of days and
    months, 0 for English. `documents` names the columns that are documents to MariaDB, in lower case. `last_timestamp`
    is MariaDB's last TIMESTAMP in microseconds, None where it is unknown, and `server_version` is the server's, ""
    where it is unknown."""

    flavour: str = "mysql"
    sql_mode: str = ""
    time_zone: str = SYSTEM
    now_us: int | np.ndarray | None = None
    literals: str = "utf8mb4"
    collation: str | None = None
    compares_in: str | None = None
    made_in: str | None = None
    lc_time_names: int = 0
    last_timestamp: int | None = None
    server_version: str = ""
    documents: frozenset[str] = frozenset()

    def in_zone(self, instant: int) -> int | None:
        """A time in microseconds UTC as the session's clock shows it, None where the log does not tell its zone."""
        return shifted(instant, self.time_zone)

    def utc_now(self) -> np.ndarray:
        """The current time in microseconds UTC, int64[1] or [n]. Raises NotComputable where it is unknown."""
        if self.now_us is None:
            raise NotComputable("the current time")
        return np.atleast_1d(np.asarray(self.now_us, np.int64))

    def now(self) -> np.ndarray:
        """The current time by the session's clock. Raises NotComputable also if its time zone is unknown."""
        instants, which = np.unique(self.utc_now(), return_inverse=True)
        shown = [self.in_zone(instant) for instant in instants.tolist()]
        if None in shown:
            raise NotComputable("the time in the server's own time zone, which the log does not tell, and "
                                "--system-time-zone can")
        return np.array(shown, np.int64)[which.reshape(-1)]
