"""What MariaDB has and MySQL has not."""

from __future__ import annotations

from tests.live.expressions import Expressions
from tests.live.values import Values


class OnlyMariaDB:
    """Settings, types and clauses of MariaDB."""

    flavour = "mariadb"
    modes = ["ORACLE", "ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL", "MYSQL323", "MYSQL40", "EMPTY_STRING_IS_NULL",
             "EMPTY_STRING_IS_NULL", "TIME_ROUND_FRACTIONAL", "TIME_ROUND_FRACTIONAL", "SIMULTANEOUS_ASSIGNMENT",
             "NO_TABLE_OPTIONS", "NO_KEY_OPTIONS", "NO_FIELD_OPTIONS"]

    def __init__(self, values: Values, version: tuple[int, ...]):
        self._values, self._pick, self._chance, self.version = values, values.pick, values.chance, version

    @property
    def kinds(self) -> list[str]:
        kinds = ["VARCHAR(9) COLLATE utf8mb4_nopad_bin", "INET6", "VARCHAR(20) COLLATE latin1_swedish_nopad_ci",
                 "VARCHAR(60) COMPRESSED", "TEXT COMPRESSED"]
        kinds += ["UUID", "VARCHAR(20) COLLATE utf8mb4_uca1400_ai_ci"] if self.version >= (10, 10) else []
        kinds += ["INET4"] if self.version >= (10, 10) else []
        return kinds + (["VECTOR(3)", "VARCHAR(9) COLLATE utf8mb4_0900_ai_ci"] if self.version >= (11, 7) else [])

    def images(self) -> list[str]:
        return ["FULL", "MINIMAL", "NOBLOB", *(["FULL_NODUP"] if self.version >= (11, 4) else [])]

    def settings(self) -> list[str]:
        found = ["SET system_versioning_alter_history = KEEP", "SET check_constraint_checks = 0", "SET old_mode = ''",
                 "SET old_mode = 'UTF8_IS_UTF8MB3'", "SET alter_algorithm = 'COPY'", "SET alter_algorithm = 'DEFAULT'"]
        return found + (["SET binlog_alter_two_phase = 1", "SET binlog_alter_two_phase = 0"]
                        if self.version >= (10, 8) else [])

    def add_to(self, expressions: Expressions) -> None:
        """Give templates that this flavour's servers know."""
        expressions.templates["n"] += ["JSON_EXISTS({j}, '$.a')", "JSON_VALUE({j}, '$.a') + 0", "LENGTHB({s})",
                                       "CHAR_LENGTH(CHR({n}))", "JSON_CONTAINS({j}, '1', '$.a')",
                                       "REGEXP_INSTR({s}, 'b')",
                                       "CAST({n} AS INT)", "CAST({s} AS DOUBLE)"]
        expressions.templates["s"] += ["CHR({n})", "SUBSTR_ORACLE({s}, 0, 1)", "TRIM_ORACLE({s})",
                                       "JSON_VALUE({j}, '$.a')",
                                       "CONCAT_OPERATOR_ORACLE({s}, 'x')", "NVL({s}, 'x')", "NVL2({s}, 'a', 'b')",
                                       "DECODE_ORACLE({n}, 1, 'a', 'b')", "JSON_QUERY({j}, '$')", "JSON_COMPACT({j})",
                                       "CAST({n} AS VARCHAR(9))", "JSON_DETAILED({j})"]
        if self.version >= (10, 6):
            expressions.templates["s"] += ["TO_CHAR({d}, 'YYYY-MM-DD')"]
        if self.version >= (11, 3):
            expressions.templates["s"] += ["DATE_FORMAT({d}, '%Y', 'de_DE')"]

    def column_words(self) -> str:
        return self._pick(["", "", "", "", " INVISIBLE", " COMMENT 'é\\''", " CHECK (TRUE)", " REF_SYSTEM_ID=1"])

    def actions(self, table: str, column: str, new: str) -> list[str]:
        """Actions of an ALTER TABLE."""
        del table
        found = [f"ADD COLUMN IF NOT EXISTS {column} INT", f"DROP COLUMN IF EXISTS {column}",
                 f"ADD {new} INT DEFAULT 5, MODIFY {new} VARCHAR(9) DEFAULT 'a'",
                 f"ADD {new} INT DEFAULT 5, ALTER {new} SET DEFAULT 7",
                 f"CHANGE IF EXISTS {column} {new} TEXT", "ALGORITHM=NOCOPY", "ALGORITHM=INSTANT", "ALGORITHM=COPY",
                 f"ADD {new} INT DEFAULT 1 + 1", "ADD SYSTEM VERSIONING", "DROP SYSTEM VERSIONING",
                 f"ADD {new} INT WITHOUT SYSTEM VERSIONING DEFAULT 3",
                 f"ADD {new} VARCHAR(20) DEFAULT CONCAT('a', 'é')"]
        return found

    def statements(self, table: str, new: str) -> list[list[str]]:
        """Other statements about a table, those that belong together in one list."""
        return [[f"CREATE OR REPLACE TABLE {table} LIKE {table}"],
                [f"CREATE OR REPLACE TABLE {new} SELECT * FROM {table}"],
                [f"ALTER TABLE {table} ADD SYSTEM VERSIONING"], [f"DELETE HISTORY FROM {table}"],
                [f"CREATE TABLE {new} (a INT, b VARCHAR(9) DEFAULT 'é') WITH SYSTEM VERSIONING",
                 f"INSERT INTO {new} VALUES (1, 'x'), (2, DEFAULT)", f"UPDATE {new} SET b = 'y' WHERE a = 1"],
                [f"CREATE SEQUENCE {new}", f"ALTER TABLE {table} ADD {new}c INT DEFAULT NEXTVAL({new})"],
                [f"ALTER TABLE {table} FORCE, ALGORITHM=COPY"], [f"DROP TABLE IF EXISTS {new}, nothing"]]
