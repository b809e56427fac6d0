"""Random SQL of what only MariaDB has: system-versioned tables, and sequences."""

from __future__ import annotations

import random
from collections.abc import Callable

BY_TIME = ["PARTITION BY SYSTEM_TIME (PARTITION p0 HISTORY, PARTITION pn CURRENT)",
           "PARTITION BY SYSTEM_TIME LIMIT 3 (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION pn CURRENT)",
           "PARTITION BY SYSTEM_TIME INTERVAL 1 DAY (PARTITION p0 HISTORY, PARTITION p1 HISTORY, PARTITION pn CURRENT)"]
PERIOD = "rs TIMESTAMP(6) GENERATED ALWAYS AS ROW START, re TIMESTAMP(6) GENERATED ALWAYS AS ROW END, " \
         "PERIOD FOR SYSTEM_TIME (rs, re)"


class VersionMaker:
    """Makes statements; `new` gives names that nothing has."""

    def __init__(self, chance: random.Random, new: Callable[[str], str]):
        self._pick, self._new = chance.choice, new

    def options(self) -> tuple[str, str]:
        """More columns and options of a CREATE TABLE, so that the table is versioned."""
        columns = self._pick(["", "", f", {PERIOD}", ", loose INT WITHOUT SYSTEM VERSIONING"])
        return columns, f" WITH SYSTEM VERSIONING {self._pick(['', '', *BY_TIME])}"

    def alter(self, table: str, is_versioned: bool) -> list[str]:
        """About a table's versions."""
        new = self._new("v")
        if not is_versioned:
            return [f"ALTER TABLE {table} ADD SYSTEM VERSIONING"]
        return self._pick([
            [f"ALTER TABLE {table} DROP SYSTEM VERSIONING"], [f"DELETE HISTORY FROM {table}"],
            [f"ALTER TABLE {table} {self._pick(BY_TIME)}"],
            [f"ALTER TABLE {table} ADD PARTITION (PARTITION {new} HISTORY)"],
            [f"ALTER TABLE {table} DROP PARTITION {self._pick(['p0', 'p1'])}"],
            [f"ALTER TABLE {table} TRUNCATE PARTITION {self._pick(['p0', 'p1', 'pn'])}"],
            [f"ALTER TABLE {table} REMOVE PARTITIONING"],
            [f"ALTER TABLE {table} ADD COLUMN {new} INT DEFAULT 3 WITHOUT SYSTEM VERSIONING"],
            [f"CREATE TABLE {new} LIKE {table}"], [f"CREATE TABLE {new} AS SELECT * FROM {table}"],
            [f"CREATE TABLE {new} WITH SYSTEM VERSIONING AS SELECT * FROM {table}"],
        ])

    def sequence(self, table: str, column: str) -> list[str]:
        """A sequence's life, which leaves nothing in a snapshot, and rows with its numbers. No ALTER adds a column with
        them: a replica numbers its rows by its own sequence, which is ahead of the source's."""
        name = self._new("s")
        return [f"CREATE SEQUENCE {name} START WITH 5 INCREMENT BY 2",
                f"INSERT IGNORE INTO {table} ({column}) VALUES (NEXT VALUE FOR {name}), (NEXTVAL({name}))",
                self._pick([f"SELECT SETVAL({name}, 40)", f"ALTER SEQUENCE {name} RESTART 9",
                            f"CREATE OR REPLACE SEQUENCE {name} CACHE 3", f"RENAME TABLE {name} TO {name}b",
                            f"ALTER TABLE {table} ALTER {column} SET DEFAULT (NEXT VALUE FOR {name})"]),
                f"INSERT IGNORE INTO {table} ({column}) VALUES (DEFAULT)",
                f"DROP SEQUENCE IF EXISTS {name}, {name}b"]
