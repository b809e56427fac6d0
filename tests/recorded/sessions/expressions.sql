-- casts-to-text-in-the-sessions-set
SET sql_mode=''
SET NAMES latin1
CREATE TABLE t (s VARCHAR(30) CHARACTER SET utf8mb4, c VARBINARY(200) AS (CAST(s AS CHAR(3))) STORED, d VARCHAR(200) CHARACTER SET utf8mb4 AS (CONVERT(s, CHAR)) STORED, i INT DEFAULT 5, f VARBINARY(20) AS (CAST(i AS CHAR)) STORED, g VARCHAR(20) CHARACTER SET utf8mb4 DEFAULT (CAST(_utf8mb4 X'D096' AS CHAR)))
INSERT INTO t (s) VALUES (_utf8mb4 X'D096C3A9'), ('a')
ALTER TABLE t ADD h VARBINARY(20) AS (CAST(s AS CHAR)) STORED, ADD j VARCHAR(9) DEFAULT (CAST(7 AS CHAR))
SET NAMES binary
CREATE TABLE u (s VARCHAR(300) CHARACTER SET cp1251, c VARBINARY(200) AS (CAST(s AS CHAR(3))) STORED, d VARCHAR(200) AS (CAST(s AS CHAR(3))) STORED, e VARBINARY(200) AS (CAST(s AS CHAR)) STORED, f VARBINARY(9) AS (CONCAT(CAST(s AS CHAR(3)), 'x')) STORED)
INSERT INTO u (s) VALUES ('a'), ('abcd')
ALTER TABLE u FORCE, ADD g VARBINARY(20) AS (CAST(s AS CHAR(3))) STORED, ADD h VARCHAR(20) AS (CAST(s AS CHAR(3))) STORED, ADD i VARCHAR(9) DEFAULT (CAST(5 AS CHAR(3)))
SET NAMES utf8mb4
CREATE TABLE v (n INT PRIMARY KEY, a VARBINARY(200) AS (CAST(20240229 AS CHAR)) STORED, b VARBINARY(200) AS (CAST(n AS CHAR)) STORED UNIQUE, c VARBINARY(200) AS (CONCAT(CAST(n AS CHAR), 'x')) STORED) CHARACTER SET ucs2
INSERT INTO v (n) VALUES (4)
SET NAMES utf8mb4
INSERT INTO u (s) VALUES ('Ж')
INSERT INTO t (s) VALUES ('日本')
UPDATE t SET i = 6

-- members-found-in-a-set
SET sql_mode=''
CREATE TABLE t (id INT PRIMARY KEY, s SET('x','a','B','é'), v VARCHAR(9), w SET('a','b') COLLATE utf8mb4_bin)
INSERT INTO t VALUES (1, 'x,a', 'a', 'a'), (2, 'B', 'x', 'a,b'), (3, '', 'zz', ''), (4, NULL, NULL, NULL), (5, 'a,é', 'É', 'b')
ALTER TABLE t ADD a INT AS (FIND_IN_SET('A', s)) STORED, ADD b INT AS (FIND_IN_SET(v, s)) STORED, ADD c INT AS (FIND_IN_SET('b', s)) STORED, ADD d INT AS (FIND_IN_SET('zz', s)) STORED, ADD e INT AS (FIND_IN_SET('é', s)) STORED, ADD f INT AS (FIND_IN_SET('B', w)) STORED
INSERT INTO t (id, s, v, w) VALUES (6, 'x,a', 'A', 'a'), (7, 'a,B', 'B', 'b')
UPDATE t SET v = 'a' WHERE id < 3

-- timestamp-literals-in-parentheses
SET sql_mode='', time_zone='-05:30', binlog_row_image=MINIMAL
CREATE TABLE t (id INT PRIMARY KEY, a TIMESTAMP NULL DEFAULT (20240229), b TIMESTAMP NULL DEFAULT ('2024-02-28'), c TIMESTAMP NULL DEFAULT (TIMESTAMP'2024-02-28 10:00:00'), d TIMESTAMP NULL DEFAULT ({ts '2024-02-28 10:00:00'}), e TIMESTAMP NULL DEFAULT (('2024-02-28')), f TIMESTAMP NULL DEFAULT (X'3230323430323239'), g TIMESTAMP NULL DEFAULT 0x3230323430323239, h DATETIME DEFAULT (20240229))
INSERT INTO t (id) VALUES (1)
SET time_zone='+02:00'
INSERT INTO t (id) VALUES (2)
CREATE TABLE u (id INT)
INSERT INTO t (id) VALUES (3)
ALTER TABLE t ADD i TIMESTAMP NULL DEFAULT ('2024-02-28')
INSERT INTO t (id) VALUES (4)

-- days-out-of-texts-and-numbers
SET sql_mode=''
CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(30), n BIGINT)
INSERT INTO t VALUES (1, '127', 20240229101112), (2, '5', 20010203123456), (3, '10:11:12', NULL), (4, '126', 19991231235959)
ALTER TABLE t ADD a BIGINT AS (EXTRACT(DAY_HOUR FROM n)) STORED, ADD b BIGINT AS (EXTRACT(DAY_SECOND FROM 20010203123456.789012)) STORED
ALTER TABLE t ADD c BIGINT AS (EXTRACT(DAY_SECOND FROM s)) STORED, ADD d BIGINT AS (EXTRACT(DAY_MINUTE FROM s)) STORED
INSERT INTO t (id, s, n) VALUES (6, '127', 20240229101112)
CREATE TABLE u (id INT PRIMARY KEY, y YEAR, a INT AS (EXTRACT(YEAR_MONTH FROM y)) STORED)
INSERT INTO u (id, y) VALUES (1, 1999), (2, 2024), (3, NULL)
ALTER TABLE u ADD b INT AS (EXTRACT(YEAR_MONTH FROM y)) STORED

-- documents-by-alter
SET sql_mode=''
CREATE TABLE j (n INT PRIMARY KEY AUTO_INCREMENT, v JSON)
INSERT INTO j (v) VALUES ('{"a": 1}'), ('[1]'), ('7'), ('-3.5'), ('1e2'), ('"5"'), ('"text"'), ('true'), ('false'), ('null'), ('2024'), ('70'), ('20240229'), ('123456'), ('"a"'), (NULL), ('"é"'), ('12')
CREATE TABLE k LIKE j
INSERT INTO k SELECT * FROM j
CREATE TABLE l LIKE j
INSERT INTO l SELECT * FROM j
CREATE TABLE m LIKE j
INSERT INTO m SELECT * FROM j
CREATE TABLE o LIKE j
INSERT INTO o SELECT * FROM j
CREATE TABLE p LIKE j
INSERT INTO p SELECT * FROM j
ALTER TABLE k MODIFY v INT
ALTER TABLE l MODIFY v DECIMAL(12,2)
ALTER TABLE m MODIFY v YEAR
ALTER TABLE o MODIFY v ENUM('7','a','"a"','12')
ALTER TABLE p MODIFY v DOUBLE
UPDATE k SET n = n + 100

-- sizes-of-documents
CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, t TEXT)
INSERT INTO t (t) VALUES ('7'), ('70000'), ('3000000000'), ('99999999999999999999'), ('1.5'), ('"a"'), ('""'), ('true'), ('[]'), ('{"a": [1, 2.50, null], "b": {"c": "x"}}'), ('"é"'), (CONCAT('"', REPEAT('x', 200), '"')), ('[32767,32768,65535,65536,-40000]')
ALTER TABLE t ADD s INT AS (JSON_STORAGE_SIZE(t)) STORED, ADD k INT AS (JSON_STORAGE_SIZE(JSON_EXTRACT('{"a": "x"}', '$.a'))) STORED
INSERT INTO t (t) VALUES ('{}'), (NULL)

-- years-chosen-as-dates
SET sql_mode=''
CREATE TABLE y (id INT PRIMARY KEY, y YEAR)
INSERT INTO y VALUES (1, 1970), (3, NULL), (4, 2024)
ALTER TABLE y ADD a DATETIME(3) AS (CAST((CASE WHEN id > 1 THEN y ELSE '2011-11-11' END) AS DATETIME)) STORED
ALTER TABLE y ADD b DATE AS (CAST(IF(id, y, '2011-11-11') AS DATE)) STORED
INSERT INTO y (id, y) VALUES (5, 1999), (6, 2155)

-- times-as-documents
SET time_zone='+02:00'
CREATE TABLE t (id INT PRIMARY KEY, ts TIMESTAMP(2) NULL, d DATETIME, t TIME(1), da DATE)
INSERT INTO t VALUES (1, '2024-02-29 01:02:03.45', '2024-02-29 01:02:03', '-1:02:03.4', '2024-02-29'), (2, NULL, NULL, NULL, NULL)
ALTER TABLE t ADD b TEXT AS (CAST(d AS JSON)) STORED, ADD c TEXT AS (CAST(t AS JSON)) STORED, ADD e TEXT AS (CAST(da AS JSON)) STORED, ADD g JSON AS (CAST(ts AS JSON)) STORED

-- kept-defaults-beside-other-actions
SET sql_mode=''
SET character_set_connection=latin5
CREATE TABLE t (id INT NOT NULL, c LONGTEXT NULL, KEY k (id)) CHARACTER SET binary
INSERT INTO t (id) VALUES (1)
ALTER TABLE t ADD c1 VARCHAR(20) DEFAULT CONCAT('a', 'é'), RENAME COLUMN c TO d
ALTER TABLE t ADD c2 VARCHAR(20) DEFAULT CONCAT('a', 'é'), COMMENT 'x'
ALTER TABLE t ADD c3 VARCHAR(20) DEFAULT CONCAT('a', 'é'), ADD UNIQUE (id)
ALTER TABLE t ADD c4 VARCHAR(20) DEFAULT CONCAT('a', 'é'), ALTER c1 SET DEFAULT 'x'
ALTER TABLE t ADD c5 VARCHAR(20) DEFAULT CONCAT('a', 'é'), DROP COLUMN d
ALTER TABLE t ADD c6 VARCHAR(20) DEFAULT CONCAT('a', 'é'), ALGORITHM=COPY
ALTER TABLE t ADD c7 VARCHAR(20) DEFAULT CONCAT('a', 'é'), FORCE
ALTER TABLE t ADD c8 VARCHAR(20) DEFAULT CONCAT('a', 'é'), MODIFY id BIGINT NOT NULL
ALTER TABLE t ADD c9 VARCHAR(20) DEFAULT CONCAT('a', 'é'), ADD CHECK (id > 0)
INSERT INTO t (id) VALUES (2)

-- typed-literals-from-a-client-of-bytes
SET sql_mode=''
SET NAMES binary
CREATE TABLE t (n INT PRIMARY KEY, a TIME(1) AS (TIMESTAMPADD(WEEK, 1, {d '2001-02-03'})) STORED, b VARCHAR(40) AS (TIMESTAMPADD(WEEK, 1, {d '2001-02-03'})) STORED, c TIME(1) AS (TIMESTAMPADD(WEEK, 1, DATE'2001-02-03')) STORED, d TIME(1) AS ({d '2001-02-03'}) STORED, f TIME AS ({ts '2001-02-03 10:11:12'}) STORED, g INT AS (YEAR({d '2001-02-03'})) STORED)
INSERT INTO t (n) VALUES (1)
ALTER TABLE t ADD e TIME(1) AS ({d '2001-02-03'}) STORED

-- characters-of-four-bytes-in-older-versions
CREATE TABLE t (id INT, a VARCHAR(20) CHARACTER SET utf8mb4 AS (CONCAT('😀', 'x')) STORED, b INT AS (ASCII('😀')) STORED) CHARACTER SET utf8mb3
INSERT INTO t (id) VALUES (1)
ALTER TABLE t ADD c VARCHAR(20) CHARACTER SET utf8mb4 AS (CONCAT('a😀', 'x')) STORED
CREATE TABLE u (s VARCHAR(20) CHARACTER SET utf8mb4, a VARCHAR(20) CHARACTER SET utf8mb4 AS (REGEXP_REPLACE(s, 'a', 'X')) STORED)
INSERT INTO u (s) VALUES ('😀'), ('😀ab'), ('éab')

-- a-date-without-days-is-null-in-a-mode
SET sql_mode='STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE'
CREATE TABLE t (id INT PRIMARY KEY, d DATE NULL, a DATETIME AS (IF(id, d, NULL)) STORED)
INSERT IGNORE INTO t (id, d) VALUES (1, '2024-00-00'), (2, x'00ff'), (3, '2024-02-29')

-- geometries-as-other-types
SET sql_mode=''
CREATE TABLE g (n INT PRIMARY KEY AUTO_INCREMENT, v GEOMETRY)
INSERT INTO g (v) VALUES (ST_GeomFromText('POINT(1 2)')), (ST_GeomFromText('POINT(-1.5 300.25)')), (NULL), (ST_GeomFromText('POINT(0 0)'))
CREATE TABLE a LIKE g
INSERT INTO a SELECT * FROM g
CREATE TABLE b LIKE g
INSERT INTO b SELECT * FROM g
CREATE TABLE c LIKE g
INSERT INTO c SELECT * FROM g
CREATE TABLE d LIKE g
INSERT INTO d SELECT * FROM g
CREATE TABLE e LIKE g
INSERT INTO e SELECT * FROM g
ALTER TABLE a MODIFY v INT
ALTER TABLE b MODIFY v VARCHAR(40) CHARACTER SET utf8mb4
ALTER TABLE c MODIFY v VARBINARY(60)
ALTER TABLE d MODIFY v ENUM('7', 'a')
ALTER TABLE e MODIFY v TEXT CHARACTER SET latin1
UPDATE a SET n = n + 10

-- numbers-of-members-in-wide-sets
SET sql_mode=''
CREATE TABLE t (n INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(40), w VARCHAR(40) CHARACTER SET utf16, x VARCHAR(40) CHARACTER SET utf32, t TIME)
INSERT INTO t (v) VALUES ('3'), ('1'), ('01'), (' 2'), ('2 '), ('+1'), ('12'), ('123'), ('4'), ('é'), ('a'), ('a,b'), (''), ('00001')
UPDATE t SET w = v, x = v, t = '-01:02:03'
CREATE TABLE u LIKE t
INSERT INTO u SELECT * FROM t
ALTER TABLE t MODIFY v ENUM('a','b','c','é') CHARACTER SET ucs2, MODIFY w ENUM('a','b','c','é') CHARACTER SET ucs2, MODIFY x ENUM('a','b','c','é') CHARACTER SET utf32, MODIFY t SET('a','b') CHARACTER SET utf32
ALTER TABLE u MODIFY v SET('a','b','c','é') CHARACTER SET utf32, MODIFY w SET('a','b','c','é') CHARACTER SET utf16, MODIFY x SET('a','b','c','é') CHARACTER SET ucs2
UPDATE t SET n = n + 100
UPDATE u SET n = n + 100

-- parts-of-documents-in-mariadb
SET sql_mode='', time_zone='+02:00'
CREATE TABLE d (n INT PRIMARY KEY AUTO_INCREMENT, i INT, b VARBINARY(20), bl BLOB, e ENUM('a','é'), s SET('a','b'), t TIME(2), ts TIMESTAMP(3) NULL, dt DATETIME, da DATE)
INSERT INTO d (i, b, bl, e, s, t, ts, dt, da) VALUES (1, 'B', 'x"y', 'é', 'a,b', '-1:02:03.4', '2024-02-29 01:02:03.456', '2024-02-29 01:02:03', '2024-02-29'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (0, '', '', '', '', '10:00:00', '2024-02-29 01:02:03', '2024-02-29', '2024-02-29')
ALTER TABLE d ADD g1 TEXT AS (JSON_ARRAY(b)) STORED, ADD g2 TEXT AS (JSON_OBJECT('k', i, 's', bl)) STORED, ADD g3 TEXT AS (JSON_ARRAY(e)) STORED, ADD g4 TEXT AS (JSON_ARRAY(s, i)) STORED, ADD g5 TEXT AS (JSON_ARRAY(t)) STORED
ALTER TABLE d ADD g7 TEXT AS (JSON_ARRAY(dt)) STORED, ADD g8 TEXT AS (JSON_INSERT('{}', '$.q', da)) STORED, ADD g9 TEXT AS (JSON_ARRAY(_binary'B')) STORED, ADD ga TEXT AS (JSON_ARRAY('5', 0x61)) STORED, ADD gb TEXT AS (JSON_OBJECT('k', i, 's', _binary'B')) STORED
ALTER TABLE d ADD gc TEXT AS (JSON_ARRAY(JSON_EXISTS('7', '$.a'), i)) STORED, ADD gd TEXT AS (JSON_ARRAY(i = 1)) STORED, ADD ge TEXT AS (JSON_ARRAY(i IS NULL, NOT i)) STORED, ADD gf TEXT AS (JSON_OBJECT('k', i / 0, 's', e)) STORED, ADD gg TEXT AS (JSON_OBJECT(_binary'k', i)) STORED
ALTER TABLE d ADD gh TEXT AS (JSON_ARRAY(ts)) STORED
INSERT INTO d (i, b, e, s, t, ts) VALUES (5, 'z', 'a', 'b', '1:2:3', '2024-02-29 01:02:03')

-- documents-that-are-numbers-with-more
SET sql_mode=''
CREATE TABLE l (n INT PRIMARY KEY AUTO_INCREMENT, t VARCHAR(40))
INSERT INTO l (t) VALUES ('2023-03-26'), ('2024-02-29T00:00:00'), ('23:59:59.9999'), ('12x'), ('-3.5'), ('00012'), ('1 2'), ('7 '), ('"a"'), ('1:2'), ('100%'), ('a'), (''), ('{"a": 1} '), ('0'), ('2.50'), ('1,2')
ALTER TABLE l ADD g1 TEXT AS (JSON_SET(t, '$.z', 1)) STORED, ADD g2 TEXT AS (JSON_INSERT(t, '$.q', 'x')) STORED, ADD g3 TEXT AS (JSON_REMOVE(t, '$.a')) STORED, ADD g4 TEXT AS (JSON_MERGE_PATCH(t, '{"m": 1}')) STORED, ADD g5 TEXT AS (JSON_KEYS(t)) STORED, ADD g6 INT AS (JSON_EXISTS(t, '$.a')) STORED
ALTER TABLE l ADD g7 TEXT AS (JSON_EXTRACT(t, '$.a')) STORED, ADD g8 TEXT AS (JSON_QUERY(t, '$')) STORED, ADD g9 INT AS (JSON_VALID(t)) STORED, ADD ga INT AS (JSON_DEPTH(t)) STORED, ADD gb TEXT AS (JSON_COMPACT(t)) STORED, ADD gc INT AS (JSON_CONTAINS_PATH(t, 'one', '$.a')) STORED
UPDATE l SET n = n + 100

-- casts-to-year
SET sql_mode=''
CREATE TABLE y (n INT PRIMARY KEY AUTO_INCREMENT, i BIGINT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(30), da DATE, y YEAR)
INSERT INTO y (i, d, f, s, da, y) VALUES (0, 0, 0, '0', '2024-02-29', 2000), (1, 1.5, 1.5, '1', '1900-01-01', 0), (69, 69.5, 69.5, '69', '2156-01-01', 2155), (70, 70.4, 70.4, '70', NULL, NULL), (99, 99.5, 99.5, '99', '2155-12-31', 1999), (100, 2.5, 2.5, '00', NULL, NULL), (1901, 1901.4, 3.5, '2024-02-29', NULL, NULL), (2156, -0.4, -0.4, '-0', NULL, NULL), (-1, NULL, NULL, '5x', NULL, NULL), (20010203, NULL, NULL, '', NULL, NULL), (NULL, NULL, NULL, '0.5', NULL, NULL)
ALTER TABLE y ADD gi INT AS (CAST(i AS YEAR)) STORED, ADD gd INT AS (CAST(d AS YEAR)) STORED, ADD gf INT AS (CAST(f AS YEAR)) STORED, ADD gs VARCHAR(9) AS (CAST(s AS YEAR)) STORED, ADD gda INT AS (CAST(da AS YEAR)) STORED, ADD gy INT AS (CAST(y AS YEAR)) STORED, ADD gc VARCHAR(9) AS (CONCAT(CAST(i AS YEAR), '')) STORED, ADD gl DOUBLE AS (CAST(20010203 AS YEAR)) STORED
UPDATE y SET n = n + 100

-- values-of-documents-that-are-whole
SET sql_mode=''
CREATE TABLE j (n INT PRIMARY KEY AUTO_INCREMENT, v JSON)
INSERT INTO j (v) VALUES ('{"a": 1}'), ('{"a": "5"}'), ('{"a": "x"}'), ('{"a": 2.5}'), ('{"a": "2.5"}'), ('{"a": 1e2}'), ('{"a": true}'), ('{"a": null}'), ('{"a": [1]}'), ('[]'), ('{"a": -3}'), ('{"a": 18446744073709551615}'), ('{"a": "  7 "}'), ('{"a": ""}'), ('{"a": -2.5}'), ('{"a": 3.5}'), ('{"a": 1e30}'), ('null'), (NULL), ('{"a": "2024-02-29"}'), ('{"a": false}')
ALTER TABLE j ADD s BIGINT AS (JSON_VALUE(v, '$.a' RETURNING SIGNED)) STORED, ADD u BIGINT UNSIGNED AS (JSON_VALUE(v, '$.a' RETURNING UNSIGNED)) STORED
UPDATE j SET n = n + 100

-- years-as-times
SET sql_mode=''
CREATE TABLE y (n INT PRIMARY KEY AUTO_INCREMENT, y YEAR)
INSERT INTO y (y) VALUES (2024), (0), (2155), (NULL), (1901), (2000)
ALTER TABLE y ADD a TEXT AS (TIME_FORMAT(y, '%H:%i:%s')) STORED, ADD b VARCHAR(30) AS (TIME_FORMAT(y, '%k %f')) STORED, ADD c TIME AS (y) STORED
UPDATE y SET n = n + 100

-- kept-defaults-that-do-not-fit
SET sql_mode=''
CREATE TABLE t (a INT) CHARACTER SET utf8mb3
INSERT INTO t VALUES (1), (2)
ALTER TABLE t ADD b CHAR(4) DEFAULT (UPPER(_latin1'é'))
CREATE TABLE u (a INT) CHARACTER SET utf8mb3
INSERT INTO u VALUES (1), (2)
ALTER TABLE u ADD b CHAR(9) DEFAULT (UPPER(_latin1'é'))
SET binlog_row_image=MINIMAL
INSERT INTO t (a) VALUES (3)
INSERT INTO u (a) VALUES (3)

-- labels-beside-bytes
SET sql_mode=''
CREATE TABLE s (id INT PRIMARY KEY, c SET('7', 'x y', 'a', 'b', 'é')) CHARACTER SET utf8mb3
INSERT INTO s VALUES (1, ''), (2, 'a'), (3, 'b'), (4, NULL), (5, '7'), (6, '7,a')
ALTER TABLE s ADD d VARCHAR(40) AS (c = 'a') STORED, DEFAULT CHARACTER SET binary
ALTER TABLE s ADD e INT AS (c = 'a') STORED, ADD f INT AS (c < 'b') STORED, ADD g INT AS (c IN ('a', 'b')) STORED, ADD h INT AS (c = '7') STORED
CREATE TABLE e (id INT PRIMARY KEY, e ENUM('7', 'x y', 'a', 'b', 'A', 'é')) CHARACTER SET utf8mb3
INSERT INTO e VALUES (1, ''), (2, 'a'), (3, 'b'), (4, NULL), (5, '7'), (6, 'é')
ALTER TABLE e DEFAULT CHARACTER SET binary
ALTER TABLE e ADD f INT AS (e = 'a') STORED, ADD g INT AS (e < 'b') STORED, ADD h INT AS (e IN ('a', 'b')) STORED, ADD i INT AS (e = 'é') STORED, ADD j INT AS (CASE e WHEN 'a' THEN 1 WHEN 'b' THEN 2 END) STORED, ADD k INT AS (STRCMP(e, 'b')) STORED, ADD l INT AS (e LIKE 'a') STORED, ADD m INT AS (e BETWEEN 'a' AND 'c') STORED, ADD n INT AS (FIELD(e, 'a', 'b')) STORED
CREATE TABLE t (id INT PRIMARY KEY, e ENUM('7', 'x y', 'a', 'b', 'A', 'é') CHARACTER SET utf8mb4) CHARACTER SET latin1
INSERT INTO t VALUES (1, ''), (2, 'a'), (3, 'b'), (4, NULL), (5, '7'), (6, 'é')
ALTER TABLE t ADD f INT AS (e = _binary'a') STORED, ADD g INT AS (e < X'62') STORED, ADD h INT AS (e IN (X'61', 'b')) STORED, ADD i INT AS (e = _binary'é') STORED

-- numbers-as-dates-of-early-years
set sql_mode=''
create table t (n bigint)
insert into t values (10000000000000),(991231235960),(5000101000000),(10000100999999),(991232000000),(9990101101112),(10000001000000),(1000000000000),(5001331000000),(20240101101112),(991231235959), (10000100235959)
alter table t add y int as (year(n)) stored, add m int as (month(n)) stored, add d date as (date(n)) stored
create table s (n bigint)
insert into s select n from t
alter table s add x varchar(60) as (date_add(n, interval 1 day)) stored
create table u (n double)
insert into u select n from t
alter table u add y int as (year(n)) stored, add m int as (dayofmonth(n)) stored, add d date as (date(n)) stored
create table v (n bigint)
insert into v select n from t where n in (5000101000000,9990101101112,991232000000,5001331000000,991231235960)
alter table v add y datetime as (cast(n as datetime)) stored, add t int as (to_days(n)) stored
alter table v add df int as (datediff(n, '2020-01-01')) stored, add ts varchar(50) as (timestamp(n)) stored

-- json-quote-of-geometries
SET sql_mode=''
CREATE TABLE t (id INT PRIMARY KEY, g GEOMETRY NOT NULL, q VARCHAR(100) AS (JSON_QUOTE(g)) STORED)
INSERT IGNORE INTO t (id) VALUES (1), (2)
INSERT INTO t (id, g) VALUES (3, POINT(0, 0))
ALTER TABLE t ADD r VARCHAR(200) AS (JSON_QUOTE(g)) STORED
