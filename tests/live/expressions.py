"""Expressions over the columns of a table: for generated columns, defaults, checks and conditions.

A template's letters in braces stand for values of a family (`values.FAMILIES`): columns, literals, other expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tests.live.values import Values


class Named(Protocol):
    """A column that an expression may name."""

    @property
    def name(self) -> str: ...
    @property
    def family(self) -> str: ...


NUMBERS = """
{n} + {n}|{n} - 1|{n} * 2|{n} * 1.5|{n} / 3|{n} DIV 2|{n} % 5|{n} MOD 3|-{n}|ABS({n})|SIGN({n})|ROUND({n}, 1)
ROUND({n})|FLOOR({n})|CEILING({n})|TRUNCATE({n}, 1)|GREATEST({n}, 3)|LEAST({n}, {n})|MOD({n}, 7)|POW({n}, 2)
SQRT(ABS({n}))|{n} & 6|{n} {bar} 1|{n} ^ 3|{n} << 2|{n} >> 1|~{n} & 255|BIT_COUNT({n})|{n} = {n}|{n} <=> NULL|{n} < 5
{n} IN (1, 2, 7)|{n} BETWEEN 1 AND 9|{n} IS NULL|NOT {n}|{n} AND {n}|{n} XOR 1|{n} OR {n}|IF({n} > 1, {n}, 0)
IFNULL({n}, -1)|COALESCE({n}, {n}, 9)|NULLIF({n}, 1)|CASE WHEN {n} > 2 THEN 1 WHEN {n} < 0 THEN 2 ELSE 3 END
CASE {n} WHEN 1 THEN 5 END|CAST({n} AS SIGNED)|CAST({n} AS UNSIGNED)|CAST({s} AS SIGNED)|CAST({n} AS DECIMAL(10,2))
{s} + 0|CAST({n} AS DOUBLE)|LENGTH({s})|CHAR_LENGTH({s})|BIT_LENGTH({s})|ASCII({s})|ORD({s})|LOCATE('a', {s})
INSTR({s}, 'b')|POSITION('a' IN {s})|STRCMP({s}, 'a')|FIND_IN_SET({s}, 'a,b,é')|FIELD({s}, 'a', 'b', 'é')|{s} = 'a'
{s} < {s}|{s} LIKE 'a%'|{s} LIKE '%é_'|{s} NOT LIKE 'b|%' ESCAPE '|'|{s} IN ('a', 'B')|{s} IS NULL|{s} REGEXP '^a'
{s} REGEXP '[0-9]+'|CRC32({s})|LENGTH({b})|{s} BETWEEN 'a' AND 'm'|{b} = 'a'|OCTET_LENGTH({b})|INTERVAL({n}, 1, 5, 10)
CONV({s}, 16, 10)|{e} + 0|{e} = 'a'|FIND_IN_SET('a', {e})|YEAR({d})|MONTH({d})|DAY({d})|DAYOFYEAR({d})|WEEKDAY({d})
DAYOFWEEK({d})|QUARTER({d})|WEEK({d}, 3)|WEEK({d}, 0)|YEARWEEK({d}, 1)|WEEKOFYEAR({d})|TO_DAYS({d})|TO_SECONDS({d})
HOUR({d})|MINUTE({d})|SECOND({d})|MICROSECOND({d})|EXTRACT(YEAR_MONTH FROM {d})|EXTRACT(DAY_SECOND FROM {d})
DATEDIFF({d}, '2020-01-01')|TIMESTAMPDIFF(DAY, {d}, '2025-01-01')|TIMESTAMPDIFF(MONTH, {d}, {d})|UNIX_TIMESTAMP({d})
{d} + 0|{d} > '2020-01-01'|{d} = {d}|PERIOD_ADD(202401, {n})|PERIOD_DIFF(202401, 202312)|TIME_TO_SEC({t})|HOUR({t})
{t} + 0|{t} > '10:00:00'|JSON_LENGTH({j})|JSON_VALID({s})|JSON_DEPTH({j})|JSON_EXTRACT({j}, '$.a') IS NULL
JSON_CONTAINS_PATH({j}, 'one', '$.a')|ISNULL({s})|{y} + 1|{n} <> {s}|{n} = {s}|{d} < {s}|EXP(1)|LN(ABS({n}) + 1)
LOG2(8)|LOG10(ABS({n}) + 1)|SIN({n})|DEGREES(PI())|ROUND({n} / 7, 4)|{n} BETWEEN {s} AND 9
{n} DIV 0|{n} / 0|SIGN({s})|ROUND({n}, -1)|TRUNCATE({n}, {n})|{n} IS TRUE|{n} IS NOT FALSE|INET_ATON('1.2.3.4')
{s} RLIKE 'b$'|IF({s} = 'a', 1, {n})|OCT({n}) + 0|BINARY {s} = 'a'|{s} COLLATE utf8mb4_bin = 'A'|CONVERT({s}, SIGNED)
CONVERT({s}, DECIMAL(6,2))|LENGTH(TRIM({s}))
""".strip().replace("\n", "|")
TEXTS = """
CONCAT({s}, '-')|CONCAT({s}, {n})|CONCAT({s}, {s}, 'é')|CONCAT_WS(',', {s}, {n}, {s})|CONCAT({d}, '')|CONCAT({b}, {s})
UPPER({s})|LOWER({s})|UCASE({s})|LCASE({s})|TRIM({s})|LTRIM({s})|RTRIM({s})|TRIM(LEADING 'a' FROM {s})
TRIM('a' FROM {s})|TRIM(BOTH 'b' FROM {s})|TRIM(TRAILING ' ' FROM {s})|SUBSTRING({s}, 2)|SUBSTR({s}, -2, 1)
SUBSTRING({s} FROM 2 FOR 3)|MID({s}, 1, 2)|LEFT({s}, 2)|RIGHT({s}, 2)|LPAD({s}, 8, '*')|RPAD({s}, 5, 'é')
REPEAT({s}, 2)|REPLACE({s}, 'a', 'bb')|REVERSE({s})|INSERT({s}, 2, 1, 'Q')|SPACE(3)|HEX({s})|HEX({n})|UNHEX('4142')
BIN({n})|OCT({n})|CONV({n}, 10, 36)|CHAR(65, 66)|CHAR({n} USING latin1)|ELT({n}, 'a', 'b', 'é')
MAKE_SET({n}, 'a', 'b', 'c')|SUBSTRING_INDEX({s}, ',', 1)|QUOTE({s})|SOUNDEX({s})
FORMAT({n}, 2)|FORMAT({n}, 0)|TO_BASE64({s})|FROM_BASE64('YWI=')|MD5({s})|SHA1({s})|SHA2({s}, 256)|INET_NTOA({n})
IF({n} > 1, {s}, 'no')|IFNULL({s}, 'none')|COALESCE({s}, {s}, 'x')|NULLIF({s}, 'a')
CASE WHEN {n} > 1 THEN {s} ELSE 'small' END|CASE {s} WHEN 'a' THEN 'A' WHEN 'é' THEN 'E' ELSE {n} END|CAST({n} AS CHAR)
CAST({d} AS CHAR)|CAST({s} AS CHAR(3))|CAST({s} AS BINARY)|CONVERT({s} USING latin1)|CONVERT({s} USING utf8mb4)
CONVERT({b} USING utf8mb4)|CAST({t} AS CHAR)|GREATEST({s}, 'b')|LEAST({s}, {s})
DATE_FORMAT({d}, '%Y-%m-%d %H:%i:%s.%f')|DATE_FORMAT({d}, '%a %b %e %y')
DATE_FORMAT({d}, '%W %M %D, %j %U %u %V %v %x')|MONTHNAME({d})|DAYNAME({d})|TIME_FORMAT({t}, '%H:%i:%s')
JSON_UNQUOTE(JSON_EXTRACT({j}, '$.a'))|JSON_EXTRACT({j}, '$.b')|JSON_QUOTE({s})|JSON_TYPE({j})|CONCAT('', {e})|{e}|{s}
REGEXP_REPLACE({s}, 'a', 'X')|REGEXP_SUBSTR({s}, '[a-z]+')|SEC_TO_TIME({n})|INSERT({s}, 1, 0, {n})|LPAD({n}, 6, '0')
CONCAT({n}, '')|CONCAT({t}, '')|UPPER(CONCAT({s}, 'ß'))|CAST({s} AS CHAR CHARACTER SET latin1)|COALESCE({n}, {s})
IF({s} IS NULL, {n}, {s})|CONCAT({s}, NULL)|SUBSTR({s}, 0)|LEFT({s}, {n})|RPAD({b}, 6, 'x')
CONCAT(UPPER({s}), LOWER({s}))|{s} COLLATE utf8mb4_bin|CONCAT(N'é', {s})|HEX({b})|REPLACE({s}, 'é', 'e')
REPLACE({s}, '\\\\', '/')|CONCAT(_latin1'é', {s})|CONCAT('\\\\', {s})|CONCAT({y}, '')
CONCAT({s}, X'41')|TRIM(CONCAT(' ', {s}, ' '))|CONCAT_WS(NULL, {s})|FORMAT({n}, 3)|LOWER(HEX({b}))|CONVERT({n}, CHAR)
DATE_FORMAT({t}, '%H')|REPEAT('ab', {n} % 5)|CONCAT(UNHEX(HEX({s})))
""".strip().replace("\n", "|")
DATETIMES = """
{d}|DATE({d})|TIMESTAMP({d})|{d} + INTERVAL 1 DAY|{d} - INTERVAL 3 MONTH|DATE_ADD({d}, INTERVAL '1:2' MINUTE_SECOND)
DATE_SUB({d}, INTERVAL 1 YEAR)|ADDDATE({d}, 31)|SUBDATE({d}, INTERVAL {n} HOUR)|LAST_DAY({d})|MAKEDATE(2024, 60)
STR_TO_DATE('2024-02-29', '%Y-%m-%d')|STR_TO_DATE({s}, '%Y-%m-%d')|FROM_DAYS(739000)|TIMESTAMPADD(WEEK, 1, {d})
CAST({d} AS DATE)|CAST({d} AS DATETIME)|CAST({s} AS DATE)|COALESCE({d}, '2020-01-01')|IFNULL({d}, '2001-01-01')
IF({n}, {d}, NULL)|GREATEST({d}, '2020-01-01')|ADDTIME({d}, '01:00:00')|CONVERT_TZ({d}, '+00:00', '+05:30')
TIMESTAMP({d}, '10:00:00')|CAST({d} AS DATETIME(2))|{d} + INTERVAL 1.5 SECOND|FROM_UNIXTIME({n})
NULLIF({d}, '2024-02-29')|{d} + INTERVAL {n} DAY|DATE_ADD({d}, INTERVAL 1 QUARTER)
CASE WHEN {n} > 1 THEN {d} ELSE '2011-11-11' END
""".strip().replace("\n", "|")
DURATIONS = """
{t}|TIME({d})|SEC_TO_TIME({n})|MAKETIME(10, 20, 30)|TIMEDIFF({t}, '01:00:00')|ADDTIME({t}, '00:10:00.5')
SUBTIME({t}, '1:0')|CAST({d} AS TIME)|CAST({s} AS TIME)|CAST({t} AS TIME(2))|COALESCE({t}, '1:02:03')
TIMEDIFF({d}, {d})|MAKETIME({n}, 1, 2)
""".strip().replace("\n", "|")
DOCUMENTS = """
{j}|JSON_OBJECT('k', {n}, 's', {s})|JSON_ARRAY({n}, {s})|JSON_EXTRACT({j}, '$.a')|JSON_SET({j}, '$.z', 1)
JSON_KEYS({j})|JSON_REMOVE({j}, '$.a')|JSON_MERGE_PATCH({j}, '{open}"m": 1{close}')|JSON_INSERT({j}, '$.q', {s})
""".strip().replace("\n", "|")
TEMPLATES = {"n": NUMBERS.split("|"), "s": TEXTS.split("|"), "d": DATETIMES.split("|"), "t": DURATIONS.split("|"),
             "j": DOCUMENTS.split("|")}
TEMPLATES["n"] = [text for text in TEMPLATES["n"] if "ESCAPE" not in text and text.count("'") % 2 == 0] + [
    "{s} LIKE 'b!%' ESCAPE '!'", "{s} LIKE 'a|_' ESCAPE '|'"]
INTO = {"n": ["INT", "BIGINT", "BIGINT UNSIGNED", "DECIMAL(20,4)", "DOUBLE", "VARCHAR(40)", "SMALLINT", "DECIMAL(8,2)"],
        "s": ["VARCHAR(200)", "VARCHAR(200)", "VARCHAR(60)", "TEXT", "VARBINARY(200)", "CHAR(60)", "BLOB", "VARCHAR(8)",
              "VARCHAR(100) CHARACTER SET latin1", "VARCHAR(100) COLLATE utf8mb4_bin", "INT"],
        "d": ["DATETIME", "DATE", "DATETIME(3)", "DATETIME(6)", "VARCHAR(40)", "BIGINT", "TIME(1)"],
        "t": ["TIME", "TIME(3)", "VARCHAR(40)", "TIME(6)", "DECIMAL(20,6)"], "j": ["JSON", "VARCHAR(200)", "TEXT"]}
"""The types of columns that hold an expression of each family."""


class Expressions:
    """Expressions over columns, at random: an operand is an expression as often as `nested` says."""

    def __init__(self, values: Values, nested: float = 0.12):
        self._values, self._pick, self._chance, self._nested = values, values.pick, values.chance, nested
        self.templates = {family: list(texts) for family, texts in TEMPLATES.items()}
        """What a flavour may add to."""

    def generated(self, columns: Sequence[Named]) -> tuple[str, str]:
        """A type, and the expression that a generated column of it has."""
        family = self._pick("nnnsssssddtj")
        return self._pick(INTO[family]), self.expression(family, columns)

    def expression(self, family: str, columns: Sequence[Named], depth: int = 0) -> str:
        template = self._pick(self.templates.get(family) or ["{" + family + "}"])
        return self.filled(template, columns, depth)

    def filled(self, template: str, columns: Sequence[Named], depth: int = 0) -> str:
        """A template with values instead of its letters."""
        parts = template.replace("{bar}", "|").replace("{open}", "\0").replace("{close}", "\1").split("{")
        text = parts[0]
        for part in parts[1:]:
            family, _, rest = part.partition("}")
            text += self._operand(family, columns, depth) + rest
        return text.replace("\0", "{").replace("\1", "}")

    def _operand(self, family: str, columns: Sequence[Named], depth: int) -> str:
        if depth < 2 and family in self.templates and self._chance(self._nested):
            return f"({self.expression(family, columns, depth + 1)})"
        of_family = [column for column in columns if column.family == family]
        if self._chance(0.03 if of_family else 0.15):
            of_family = list(columns)
        if of_family and self._chance(0.93):
            return self._pick(of_family).name
        return self._values.literal(family)
