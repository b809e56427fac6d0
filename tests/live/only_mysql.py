"""What MySQL has and MariaDB has not."""

from __future__ import annotations

from tests.live.expressions import Expressions
from tests.live.values import Values


class OnlyMySQL:
    """Settings, types and clauses of MySQL."""

    flavour = "mysql"
    modes = ["TIME_TRUNCATE_FRACTIONAL"]
    kinds = ["VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci", "VARCHAR(9) COLLATE utf8mb4_0900_as_cs",
             "VARCHAR(9) COLLATE utf8mb4_ja_0900_as_cs", "VECTOR(3)", "TEXT COLLATE utf8mb4_de_pb_0900_ai_ci"]

    def __init__(self, values: Values, version: tuple[int, ...]):
        self._values, self._pick, self._chance, self.version = values, values.pick, values.chance, version

    def images(self) -> list[str]:
        return ["FULL", "MINIMAL", "NOBLOB"]

    def settings(self) -> list[str]:
        return ["SET binlog_row_value_options = 'PARTIAL_JSON'", "SET binlog_row_value_options = ''",
                "SET sql_generate_invisible_primary_key = 1", "SET sql_generate_invisible_primary_key = 0",
                "SET default_collation_for_utf8mb4 = utf8mb4_general_ci", "SET sql_require_primary_key = 0",
                "SET binlog_transaction_compression = ON", "SET binlog_transaction_compression = OFF",
                "SET windowing_use_high_precision = 0", "SET character_set_server = latin1",
                "SET show_create_table_skip_secondary_engine = 0"]

    def add_to(self, expressions: Expressions) -> None:
        """Give templates that this flavour's servers know."""
        expressions.templates["n"] += [
            "REGEXP_LIKE({s}, '^a')", "REGEXP_INSTR({s}, 'b')", "JSON_CONTAINS({j}, '1', '$.a')", "{j}->'$.a' IS NULL",
            "JSON_VALUE({j}, '$.a' RETURNING SIGNED)", "'x' MEMBER OF ({j})", "JSON_OVERLAPS({j}, '[1]')",
            "IS_UUID({s})", "CAST({d} AS UNSIGNED)", "CAST({n} AS FLOAT)", "CAST({d} AS YEAR)", "ST_X(POINT({n}, 1))",
            "JSON_STORAGE_SIZE({j}) > 0", "{s} SOUNDS LIKE 'a'", "CAST({s} AS DOUBLE)", "CAST({n} AS REAL)"]
        expressions.templates["s"] += [
            "{j}->>'$.b.c'", "{j}->'$.a'", "JSON_VALUE({j}, '$.a')", "JSON_PRETTY({j})", "BIN_TO_UUID(UUID_TO_BIN("
            "'6ccd780c-baba-1026-9564-5b8c656024db'))", "REGEXP_REPLACE({s}, '^a', 'X', 1, 0, 'i')",
            "CAST({j} AS CHAR)",
            "UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db')",
            "CAST({s} AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_as_cs"]
        expressions.templates["j"] += ["CAST({n} AS JSON)", "JSON_ARRAY_APPEND({j}, '$.a', {d})", "CAST({s} AS JSON)",
                                       "JSON_MERGE_PRESERVE({j}, '[1]')", "JSON_REPLACE({j}, '$.a', {n})",
                                       "JSON_SCHEMA_VALID('{open}{close}', {j})"]
        expressions.templates["d"] += ["CAST({d} AS DATETIME(3))", "CAST('2024-01-01' AS DATE)"]

    def column_words(self) -> str:
        return self._pick(["", "", "", "", " INVISIBLE", " /*!80023 VISIBLE */", " COMMENT 'é\\''", " STORAGE DISK"])

    def actions(self, table: str, column: str, new: str) -> list[str]:
        """Actions of an ALTER TABLE."""
        del table, new
        return [f"ALTER COLUMN {column} SET INVISIBLE", f"ALTER COLUMN {column} SET VISIBLE",
                f"ALTER COLUMN {column} SET DEFAULT (1 + 2)", "ALGORITHM=INSTANT", "ALGORITHM=COPY",
                f"ADD INDEX ((CAST({column} AS CHAR(10))))", f"ADD UNIQUE INDEX ((UPPER({column})))"]

    def statements(self, table: str, new: str) -> list[list[str]]:
        """Other statements about a table, those that belong together in one list."""
        return [[f"CREATE TABLE {new} START TRANSACTION SELECT * FROM {table}"] if self._chance(0.3) else
                [f"CREATE TABLE {new} AS TABLE {table}"],
                [f"ALTER TABLE {table} SECONDARY_ENGINE = NULL"]]
