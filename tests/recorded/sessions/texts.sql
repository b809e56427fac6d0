-- text-in-a-collation-that-is-not-known
ALTER DATABASE d CHARACTER SET utf8mb4
SET sql_mode = ''
CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(30), d DATETIME)
INSERT INTO t VALUES (1, 7, 'apple', '2024-02-29 10:11:12'), (2, -12, 'É', '1999-12-31 23:59:59'), (3, NULL, 'ЖЖ', NULL), (4, 1234567, 'a,b', '2020-01-01 00:00:00')
ALTER TABLE t ADD a1 INT DEFAULT (LOCATE('a', 'ж')), ADD a2 INT DEFAULT ('100%' RLIKE 'b$'), ADD a3 INT DEFAULT (FIELD('ss', 'a', 'b', 'é'))
ALTER TABLE t ADD b1 INT DEFAULT (REGEXP_INSTR('it''s', 's')), ADD b2 VARCHAR(20) DEFAULT (REGEXP_REPLACE('ab', 'a', 'X')), ADD b3 VARCHAR(20) DEFAULT (REGEXP_REPLACE('12', '[0-9]', 'X'))
ALTER TABLE t ADD c1 INT DEFAULT ('ж' = 'a'), ADD c2 INT DEFAULT ('b' LIKE '%é_'), ADD c3 INT DEFAULT (FIND_IN_SET('b', 'a,b,é')), ADD c4 INT DEFAULT (LOCATE('b', 'abcé'))
ALTER TABLE t ADD d1 INT AS (FIND_IN_SET(FORMAT(n, 2), '7.00,b,é')) STORED, ADD d2 INT AS (FIND_IN_SET(n, '7,b,é')) STORED
ALTER TABLE t ADD e1 INT AS (CASE (CAST(s AS CHAR(3))) WHEN 'Ж' THEN 1 WHEN 'zz' THEN 2 ELSE 3 END) STORED
ALTER TABLE t ADD f1 INT AS (FIELD(IF(n > 1, 'a', 'b'), 'a', 'b', 'é')) STORED, ADD f2 INT AS (LOCATE('2', CAST(n AS CHAR))) STORED
ALTER TABLE t ADD g1 INT AS (REGEXP_INSTR(CAST(d AS CHAR), '-0')) STORED, ADD g2 INT AS (CAST(d AS CHAR) LIKE '2%') STORED
ALTER TABLE t ADD h1 VARCHAR(40) AS (LEAST('ss', n)) STORED, ADD h2 VARCHAR(40) AS (GREATEST('5', n, '70')) STORED
ALTER TABLE t ADD i1 INT AS (_latin1 X'E9' = s) STORED, ADD i2 INT AS (_gbk X'C4E3' LIKE '%é_') STORED
ALTER TABLE t ADD j1 INT AS (INSTR(HEX(s), 'C3')) STORED, ADD j2 INT AS (HEX(s) = '6170706C65') STORED
UPDATE t SET id = id + 10

-- text-searched-in-any-collation
ALTER DATABASE d CHARACTER SET utf8mb4
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(30) COLLATE utf8mb4_unicode_ci, b VARCHAR(30) COLLATE utf8mb4_0900_as_cs, c VARCHAR(30) CHARACTER SET ujis, d VARCHAR(30) CHARACTER SET big5, e VARCHAR(30) CHARACTER SET cp1251, f VARCHAR(30) COLLATE utf8mb4_bin, g VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_german2_ci)
CREATE TABLE u (id INT PRIMARY KEY, a VARCHAR(30) COLLATE utf8mb4_unicode_ci, b VARCHAR(30) COLLATE utf8mb4_uca1400_as_cs, c VARCHAR(30) CHARACTER SET ujis, d VARCHAR(30) CHARACTER SET big5, e VARCHAR(30) CHARACTER SET cp1251, f VARCHAR(30) COLLATE utf8mb4_bin, g VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_german2_ci)
CREATE TABLE v (id INT PRIMARY KEY, a VARCHAR(30) COLLATE utf8mb4_unicode_ci, b VARCHAR(30) COLLATE utf8mb4_unicode_520_ci, c VARCHAR(30) CHARACTER SET ujis, d VARCHAR(30) CHARACTER SET big5, e VARCHAR(30) CHARACTER SET cp1251, f VARCHAR(30) COLLATE utf8mb4_bin, g VARCHAR(30) CHARACTER SET latin1 COLLATE latin1_german2_ci)
INSERT INTO t VALUES (1, 'xß', 'ab', '日本', '日', 'Жa', 'ÉB', 'ö'), (2, 'éa', 'B', 'ab', 'AB', 'ab', 'b', 'abc'), (3, '日a', 'é', 'x', 'b', 'ж', '', 'B'), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
INSERT INTO u VALUES (1, 'xß', 'ab', '日本', '日', 'Жa', 'ÉB', 'ö'), (2, 'éa', 'B', 'ab', 'AB', 'ab', 'b', 'abc'), (3, '日a', 'é', 'x', 'b', 'ж', '', 'B'), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
INSERT INTO v VALUES (1, 'xß', 'ab', '日本', '日', 'Жa', 'ÉB', 'ö'), (2, 'éa', 'B', 'ab', 'AB', 'ab', 'b', 'abc'), (3, '日a', 'é', 'x', 'b', 'ж', '', 'B'), (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
ALTER TABLE t ADD x1 INT AS (LOCATE('x', a)) STORED, ADD x2 INT AS (c LIKE '%é_') STORED, ADD x3 INT AS (d LIKE 'q%') STORED
ALTER TABLE u ADD x1 INT AS (LOCATE('x', a)) STORED, ADD x2 INT AS (c LIKE '%é_') STORED, ADD x3 INT AS (d LIKE 'q%') STORED
ALTER TABLE v ADD x1 INT AS (LOCATE('x', a)) STORED, ADD x2 INT AS (c LIKE '%é_') STORED, ADD x3 INT AS (d LIKE 'q%') STORED
ALTER TABLE t ADD y1 INT AS (b RLIKE 'b$') STORED, ADD y2 INT AS (d RLIKE 'b$') STORED, ADD y3 INT AS (c REGEXP '^A') STORED, ADD y4 INT AS (f REGEXP '^B') STORED, ADD y5 INT AS (g REGEXP 'b') STORED
ALTER TABLE u ADD y1 INT AS (b RLIKE 'b$') STORED, ADD y2 INT AS (d RLIKE 'b$') STORED, ADD y3 INT AS (c REGEXP '^A') STORED, ADD y4 INT AS (f REGEXP '^B') STORED, ADD y5 INT AS (g REGEXP 'b') STORED
ALTER TABLE v ADD y1 INT AS (b RLIKE 'b$') STORED, ADD y2 INT AS (d RLIKE 'b$') STORED, ADD y3 INT AS (c REGEXP '^A') STORED, ADD y4 INT AS (f REGEXP '^B') STORED, ADD y5 INT AS (g REGEXP 'b') STORED
ALTER TABLE t ADD z1 INT AS (LOCATE('日', a)) STORED, ADD z2 INT AS (LOCATE('Q', g)) STORED, ADD z3 INT AS (LOCATE('Q', e)) STORED
ALTER TABLE u ADD z1 INT AS (LOCATE('日', a)) STORED, ADD z2 INT AS (LOCATE('Q', g)) STORED, ADD z3 INT AS (LOCATE('Q', e)) STORED
ALTER TABLE v ADD z1 INT AS (LOCATE('日', a)) STORED, ADD z2 INT AS (LOCATE('Q', g)) STORED, ADD z3 INT AS (LOCATE('Q', e)) STORED
UPDATE t SET id = id + 10
UPDATE u SET id = id + 10
UPDATE v SET id = id + 10

-- control-characters-in-an-order
ALTER DATABASE d CHARACTER SET utf8mb4
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(30) COLLATE utf8mb4_general_ci, b VARCHAR(30) CHARACTER SET latin1, c VARCHAR(30) COLLATE utf8mb4_bin, d VARCHAR(30) COLLATE utf8mb4_unicode_ci)
INSERT INTO t VALUES (1, 'a\tb', 'a\tb', 'a\tb', 'a\tb'), (2, 'a', 'a', 'a', 'a'), (3, 'a\t', 'a\t', 'a\t', 'a\t'), (4, 'a\b', 'a\b', 'a\b', 'a\b'), (5, 'a b', 'a b', 'a b', 'a b'), (6, '\n', '\n', '\n', '\n'), (7, '', '', '', '')
ALTER TABLE t ADD x1 INT AS (a < 'a') STORED, ADD x2 INT AS (b < 'a') STORED, ADD x3 INT AS (c < 'a') STORED, ADD x4 INT AS (d < 'a') STORED
ALTER TABLE t ADD y1 INT AS (STRCMP(a, '')) STORED, ADD y2 INT AS (STRCMP(b, 'a b')) STORED, ADD y3 INT AS (c BETWEEN '' AND 'a') STORED, ADD y4 VARCHAR(30) AS (LEAST(d, 'a')) STORED
UPDATE t SET id = id + 10

-- order-in-other-character-sets
ALTER DATABASE d CHARACTER SET utf8mb4
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(30) CHARACTER SET cp1251, b VARCHAR(30) CHARACTER SET sjis, c VARCHAR(30) CHARACTER SET big5, d VARCHAR(30) CHARACTER SET koi8r, e VARCHAR(30) CHARACTER SET gbk, f VARCHAR(30) CHARACTER SET greek, g VARCHAR(30) CHARACTER SET latin2)
INSERT INTO t VALUES (1, 'apple', 'apple', 'apple', 'apple', 'apple', 'apple', 'apple'), (2, 'B', 'B', 'B', 'B', 'B', 'B', 'B'), (3, '_z', '_z', '_z', '_z', '_z', '_z', '_z'), (4, 'Жук', 'ab', 'ab', 'Жук', 'ab', 'Ωμ', 'ź'), (5, '-1', '-1', '-1', '-1', '-1', '-1', '-1'), (6, 'm', 'm', 'm', 'm', 'm', 'm', 'm'), (7, '', '', '', '', '', '', ''), (8, 'я', 'z}', 'z}', 'я', 'z}', 'ά', 'Ł')
ALTER TABLE t ADD x1 INT AS (STRCMP(a, 'b')) STORED, ADD x2 INT AS (STRCMP(b, 'b')) STORED, ADD x3 INT AS (STRCMP(c, 'b')) STORED, ADD x4 INT AS (STRCMP(d, 'b')) STORED, ADD x5 INT AS (STRCMP(e, 'b')) STORED, ADD x6 INT AS (STRCMP(f, 'b')) STORED, ADD x7 INT AS (STRCMP(g, 'b')) STORED
ALTER TABLE t ADD y1 INT AS (a < '_z') STORED, ADD y2 INT AS (b < '_z') STORED, ADD y3 INT AS (c < '_z') STORED, ADD y4 INT AS (d < '_z') STORED, ADD y5 INT AS (e < '_z') STORED, ADD y6 INT AS (f < '_z') STORED, ADD y7 INT AS (g < '_z') STORED
ALTER TABLE t ADD z1 INT AS (a BETWEEN 'a' AND 'm') STORED, ADD z2 VARCHAR(30) AS (GREATEST(b, 'm')) STORED, ADD z3 VARCHAR(30) AS (LEAST(d, 'm')) STORED, ADD z4 INT AS (a < 'ж') STORED, ADD z7 INT AS (g < 'l') STORED
UPDATE t SET id = id + 10

-- characters-by-their-numbers
ALTER DATABASE d CHARACTER SET utf8mb4
SET sql_mode = ''
CREATE TABLE t (id INT PRIMARY KEY, n INT)
INSERT INTO t VALUES (1, 65), (2, 233), (3, 20240229), (4, -1), (5, 0), (6, NULL), (7, 50089), (8, 128)
ALTER TABLE t ADD a VARCHAR(60) AS (CHAR(n USING latin1)) STORED, ADD b VARCHAR(60) CHARACTER SET latin1 AS (CHAR(n USING latin1)) STORED, ADD c INT AS (CHAR(n USING latin1)) STORED
ALTER TABLE t ADD d VARCHAR(60) AS (CHAR(n, 65, 195 USING cp1251)) STORED, ADD e VARCHAR(60) AS (CHAR(n USING koi8r)) STORED, ADD f VARCHAR(60) AS (CHAR(101112 USING latin1)) STORED, ADD g VARBINARY(60) AS (CHAR(n USING latin1)) STORED
ALTER TABLE t ADD h VARCHAR(60) AS (HEX(CHAR(n USING latin1))) STORED, ADD i VARCHAR(60) AS (HEX(CHAR(n USING cp850))) STORED, ADD j VARCHAR(60) AS (CHAR(n USING greek)) STORED
UPDATE t SET id = id + 10

-- collate-of-other-values
ALTER DATABASE d CHARACTER SET utf8mb4
CREATE TABLE t (id INT PRIMARY KEY, n INT, d DATE, f DOUBLE)
INSERT INTO t VALUES (1, 7, '2024-02-29', 1.5), (2, NULL, NULL, NULL)
ALTER TABLE t ADD a VARCHAR(60) AS (n COLLATE utf8mb4_bin) STORED, ADD b VARCHAR(60) AS (d COLLATE utf8mb4_bin) STORED, ADD c INT AS ((n COLLATE utf8mb4_bin) = '7') STORED
ALTER TABLE t ADD e VARCHAR(60) AS (f COLLATE utf8mb4_bin) STORED
UPDATE t SET id = id + 10

-- members-found-in-sets
ALTER DATABASE d CHARACTER SET utf8mb4
CREATE TABLE t (id INT PRIMARY KEY, s SET('b', 'a', 'É', 'x y'), l SET('B', 'é') CHARACTER SET latin1, w VARCHAR(9))
INSERT INTO t VALUES (1, 'b', 'B', 'a'), (2, 'a,b', 'é', 'b'), (3, 'É,x y', 'B,é', 'é'), (4, '', '', ''), (5, NULL, NULL, NULL)
ALTER TABLE t ADD a INT AS (FIND_IN_SET('a', s)) STORED, ADD b INT AS (FIND_IN_SET('A', s)) STORED, ADD c INT AS (FIND_IN_SET('é', s)) STORED, ADD d INT AS (FIND_IN_SET('É', s)) STORED, ADD e INT AS (FIND_IN_SET('b', l)) STORED
ALTER TABLE t ADD f INT AS (FIND_IN_SET('é', l)) STORED, ADD g INT AS (FIND_IN_SET('x y', s)) STORED, ADD h INT AS (FIND_IN_SET('x', s)) STORED, ADD i INT AS (FIND_IN_SET('', s)) STORED, ADD j INT AS (FIND_IN_SET(2, s)) STORED
ALTER TABLE t ADD k INT AS (FIND_IN_SET('a ', s)) STORED, ADD m INT AS (FIND_IN_SET(NULL, s)) STORED
UPDATE t SET id = id + 10

-- patterns-over-bytes
SET sql_mode = ''
CREATE TABLE t (id INT PRIMARY KEY, v VARBINARY(30), b BLOB, s VARCHAR(30)) CHARACTER SET utf8mb4
CREATE TABLE u (id INT PRIMARY KEY, v VARBINARY(30), b BLOB, s VARCHAR(30)) CHARACTER SET binary
INSERT INTO t VALUES (1, 'ab', 'xyz', 'AB'), (2, X'C3A9', X'00FF', 'é'), (3, '', 'B', 'b'), (4, NULL, NULL, NULL), (5, 'a_c', 'a|b', 'x')
INSERT INTO u VALUES (1, 'ab', 'xyz', 'AB'), (2, X'C3A9', X'E9FF', 'é'), (3, '', 'B', 'b'), (4, NULL, NULL, NULL), (5, 'a_c', 'a|b', 'x')
ALTER TABLE t ADD a1 INT AS (v RLIKE 'b$') STORED
ALTER TABLE t ADD a2 INT AS (CONCAT(UNHEX(HEX(s))) RLIKE 'b$') STORED
ALTER TABLE t ADD a3 VARBINARY(30) AS (REGEXP_SUBSTR(v, '[a-z]+')) STORED, ADD a4 VARCHAR(30) AS (REGEXP_SUBSTR(v, '[a-z]+')) STORED
ALTER TABLE t ADD a5 INT AS (REGEXP_INSTR(_binary X'784430784236', 'b')) STORED, ADD a6 INT AS (REGEXP_INSTR(_binary X'784430784236', 'B')) STORED
ALTER TABLE t ADD a7 VARCHAR(30) AS (REGEXP_REPLACE(v, 'a', 'X')) STORED
ALTER TABLE t ADD a8 VARCHAR(30) DEFAULT (REGEXP_SUBSTR(0x4A4B, '[a-z]+'))
ALTER TABLE t ADD a9 INT DEFAULT (CONCAT(0x6162, '7') REGEXP '^A')
ALTER TABLE u ADD a1 INT AS (v RLIKE 'b$') STORED, ADD a2 INT AS (s RLIKE 'b$') STORED, ADD a3 VARBINARY(30) AS (REGEXP_SUBSTR(s, '[a-z]+')) STORED
ALTER TABLE u ADD a4 VARBINARY(30) AS (REGEXP_REPLACE(s, 'b', 'X')) STORED, ADD a5 INT AS (REGEXP_INSTR(v, '[^a]')) STORED
ALTER TABLE u ADD b1 INT AS (v LIKE 'a|_%' ESCAPE '|') STORED, ADD b2 INT AS (_binary X'41' LIKE 'a|_' ESCAPE '|') STORED, ADD b3 INT AS (b LIKE 'a||%' ESCAPE '|') STORED
UPDATE t SET id = id + 10
UPDATE u SET id = id + 10

-- documents-of-bytes
SET sql_mode = ''
CREATE TABLE t (id INT PRIMARY KEY, v VARBINARY(60), b BLOB, s VARCHAR(60)) CHARACTER SET latin1
CREATE TABLE u (id INT PRIMARY KEY, v VARBINARY(60), s VARCHAR(60)) CHARACTER SET binary
INSERT INTO t VALUES (1, '{"a": "é"}', '{"é": 1}', 'é'), (2, X'00FF', '["x"]', 'x'), (3, '7', X'C3A9', ''), (4, NULL, NULL, NULL)
INSERT INTO u VALUES (1, '{"a": "é"}', '{"é": 1}'), (2, X'00FF', '["x"]'), (3, '7', X'C3A9'), (4, NULL, NULL)
ALTER TABLE t ADD a1 VARCHAR(99) AS (JSON_MERGE_PATCH(v, '{"m": 1}')) STORED, ADD a2 VARBINARY(99) AS (JSON_MERGE_PATCH(v, '{"m": 1}')) STORED, ADD a3 INT AS (JSON_VALID(v)) STORED, ADD a4 INT AS (JSON_VALID(b)) STORED
ALTER TABLE t ADD b1 VARCHAR(99) AS (JSON_REMOVE(v, '$.a')) STORED, ADD b2 VARBINARY(99) AS (JSON_INSERT(v, '$.q', s)) STORED, ADD b3 VARCHAR(99) AS (JSON_VALUE(v, '$.a')) STORED, ADD b4 VARBINARY(99) AS (JSON_KEYS(b)) STORED
ALTER TABLE t ADD c1 INT DEFAULT (JSON_VALID(X'C3A9')), ADD c3 INT AS (JSON_LENGTH(b)) STORED
ALTER TABLE u ADD a1 VARCHAR(99) CHARACTER SET utf8mb4 AS (JSON_MERGE_PATCH(v, '{"m": "é"}')) STORED, ADD a2 VARBINARY(99) AS (JSON_INSERT('{"a": "é"}', '$.q', s)) STORED, ADD a3 INT AS (JSON_VALUE('{"a": "é"}', '$.a') + 0) STORED
ALTER TABLE u ADD b1 VARCHAR(99) CHARACTER SET latin1 AS (JSON_KEYS('{"é": 1}')) STORED, ADD b2 INT AS (JSON_CONTAINS_PATH('{"a": "é"}', 'one', '$.a')) STORED, ADD b3 VARCHAR(99) CHARACTER SET utf8mb4 AS (JSON_SET(s, '$.b', 'é')) STORED
UPDATE t SET id = id + 10
UPDATE u SET id = id + 10
