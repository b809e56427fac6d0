-- codes-that-a-select-does-not-show
SET sql_mode=''
CREATE TABLE greek (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET greek
INSERT IGNORE INTO greek (id, a, b) VALUES (0, x'3F', x'FF'), (1, x'FF', x'AA'), (2, x'AA', x'61FF62'), (3, x'61FF62', x'E1'), (4, x'E1', x'FF')
ALTER TABLE greek ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING greek)) STORED, ADD g25 INT AS (a COLLATE greek_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET greek)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET greek AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET greek AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE greek ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE greek ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE greek SET id = id + 100
CREATE TABLE greek_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET greek PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF'), PARTITION p1 VALUES IN ('AA', '61FF62', 'E1'))
INSERT IGNORE INTO greek_p (id, a, b) VALUES (0, x'3F', x'FF'), (1, x'FF', x'AA'), (2, x'AA', x'61FF62'), (3, x'61FF62', x'E1'), (4, x'E1', x'FF')
ALTER TABLE greek_p TRUNCATE PARTITION p1
CREATE TABLE greek_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET greek
INSERT IGNORE INTO greek_c (id, a, b) VALUES (0, x'3F', x'FF'), (1, x'FF', x'AA'), (2, x'AA', x'61FF62'), (3, x'61FF62', x'E1'), (4, x'E1', x'FF')
ALTER IGNORE TABLE greek_c ADD CHECK (a <> '?')
ALTER TABLE greek_c ADD e ENUM('?', 'x') CHARACTER SET greek DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE greek_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET greek
INSERT IGNORE INTO greek_u (id, a, b) VALUES (0, x'3F', x'FF'), (1, x'FF', x'AA'), (2, x'AA', x'61FF62'), (3, x'61FF62', x'E1'), (4, x'E1', x'FF')
REPLACE INTO greek_u (id, a) VALUES (9, x'FF')
CREATE TABLE swe7 (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET swe7
INSERT IGNORE INTO swe7 (id, a, b) VALUES (0, x'3F', x'7F'), (1, x'7F', x'617F62'), (2, x'617F62', x'7F')
ALTER TABLE swe7 ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING swe7)) STORED, ADD g25 INT AS (a COLLATE swe7_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET swe7)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET swe7 AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET swe7 AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE swe7 ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE swe7 ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE swe7 SET id = id + 100
CREATE TABLE swe7_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET swe7 PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', '7F'), PARTITION p1 VALUES IN ('617F62'))
INSERT IGNORE INTO swe7_p (id, a, b) VALUES (0, x'3F', x'7F'), (1, x'7F', x'617F62'), (2, x'617F62', x'7F')
ALTER TABLE swe7_p TRUNCATE PARTITION p1
CREATE TABLE swe7_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET swe7
INSERT IGNORE INTO swe7_c (id, a, b) VALUES (0, x'3F', x'7F'), (1, x'7F', x'617F62'), (2, x'617F62', x'7F')
ALTER IGNORE TABLE swe7_c ADD CHECK (a <> '?')
ALTER TABLE swe7_c ADD e ENUM('?', 'x') CHARACTER SET swe7 DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE swe7_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET swe7
INSERT IGNORE INTO swe7_u (id, a, b) VALUES (0, x'3F', x'7F'), (1, x'7F', x'617F62'), (2, x'617F62', x'7F')
REPLACE INTO swe7_u (id, a) VALUES (9, x'7F')
CREATE TABLE cp932 (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET cp932
INSERT IGNORE INTO cp932 (id, a, b) VALUES (0, x'3F', x'ED40'), (1, x'ED40', x'FA5C'), (2, x'FA5C', x'61ED4062'), (3, x'61ED4062', x'81AD'), (4, x'81AD', x'879A'), (5, x'879A', x'ED40')
ALTER TABLE cp932 ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING cp932)) STORED, ADD g25 INT AS (a COLLATE cp932_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET cp932)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET cp932 AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET cp932 AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE cp932 ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE cp932 ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE cp932 SET id = id + 100
CREATE TABLE cp932_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET cp932 PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', 'ED40'), PARTITION p1 VALUES IN ('FA5C', '61ED4062', '81AD', '879A'))
INSERT IGNORE INTO cp932_p (id, a, b) VALUES (0, x'3F', x'ED40'), (1, x'ED40', x'FA5C'), (2, x'FA5C', x'61ED4062'), (3, x'61ED4062', x'81AD'), (4, x'81AD', x'879A'), (5, x'879A', x'ED40')
ALTER TABLE cp932_p TRUNCATE PARTITION p1
CREATE TABLE cp932_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET cp932
INSERT IGNORE INTO cp932_c (id, a, b) VALUES (0, x'3F', x'ED40'), (1, x'ED40', x'FA5C'), (2, x'FA5C', x'61ED4062'), (3, x'61ED4062', x'81AD'), (4, x'81AD', x'879A'), (5, x'879A', x'ED40')
ALTER IGNORE TABLE cp932_c ADD CHECK (a <> '?')
ALTER TABLE cp932_c ADD e ENUM('?', 'x') CHARACTER SET cp932 DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE cp932_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET cp932
INSERT IGNORE INTO cp932_u (id, a, b) VALUES (0, x'3F', x'ED40'), (1, x'ED40', x'FA5C'), (2, x'FA5C', x'61ED4062'), (3, x'61ED4062', x'81AD'), (4, x'81AD', x'879A'), (5, x'879A', x'ED40')
REPLACE INTO cp932_u (id, a) VALUES (9, x'ED40')
CREATE TABLE gbk (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET gbk
INSERT IGNORE INTO gbk (id, a, b) VALUES (0, x'3F', x'A140'), (1, x'A140', x'A141'), (2, x'A141', x'61A14062'), (3, x'61A14062', x'B0A1'), (4, x'B0A1', x'A140')
ALTER TABLE gbk ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING gbk)) STORED, ADD g25 INT AS (a COLLATE gbk_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET gbk)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET gbk AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET gbk AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE gbk ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE gbk ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE gbk SET id = id + 100
CREATE TABLE gbk_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET gbk PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', 'A140'), PARTITION p1 VALUES IN ('A141', '61A14062', 'B0A1'))
INSERT IGNORE INTO gbk_p (id, a, b) VALUES (0, x'3F', x'A140'), (1, x'A140', x'A141'), (2, x'A141', x'61A14062'), (3, x'61A14062', x'B0A1'), (4, x'B0A1', x'A140')
ALTER TABLE gbk_p TRUNCATE PARTITION p1
CREATE TABLE gbk_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET gbk
INSERT IGNORE INTO gbk_c (id, a, b) VALUES (0, x'3F', x'A140'), (1, x'A140', x'A141'), (2, x'A141', x'61A14062'), (3, x'61A14062', x'B0A1'), (4, x'B0A1', x'A140')
ALTER IGNORE TABLE gbk_c ADD CHECK (a <> '?')
ALTER TABLE gbk_c ADD e ENUM('?', 'x') CHARACTER SET gbk DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE gbk_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET gbk
INSERT IGNORE INTO gbk_u (id, a, b) VALUES (0, x'3F', x'A140'), (1, x'A140', x'A141'), (2, x'A141', x'61A14062'), (3, x'61A14062', x'B0A1'), (4, x'B0A1', x'A140')
REPLACE INTO gbk_u (id, a) VALUES (9, x'A140')
CREATE TABLE sjis (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET sjis
INSERT IGNORE INTO sjis (id, a, b) VALUES (0, x'3F', x'5C'), (1, x'5C', x'815F'), (2, x'815F', x'6181AD62'), (3, x'6181AD62', x'5C')
ALTER TABLE sjis ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING sjis)) STORED, ADD g25 INT AS (a COLLATE sjis_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET sjis)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET sjis AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET sjis AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE sjis ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE sjis ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE sjis SET id = id + 100
CREATE TABLE sjis_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET sjis PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', '5C'), PARTITION p1 VALUES IN ('815F', '6181AD62'))
INSERT IGNORE INTO sjis_p (id, a, b) VALUES (0, x'3F', x'5C'), (1, x'5C', x'815F'), (2, x'815F', x'6181AD62'), (3, x'6181AD62', x'5C')
ALTER TABLE sjis_p TRUNCATE PARTITION p1
CREATE TABLE sjis_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET sjis
INSERT IGNORE INTO sjis_c (id, a, b) VALUES (0, x'3F', x'5C'), (1, x'5C', x'815F'), (2, x'815F', x'6181AD62'), (3, x'6181AD62', x'5C')
ALTER IGNORE TABLE sjis_c ADD CHECK (a <> '?')
ALTER TABLE sjis_c ADD e ENUM('?', 'x') CHARACTER SET sjis DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE sjis_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET sjis
INSERT IGNORE INTO sjis_u (id, a, b) VALUES (0, x'3F', x'5C'), (1, x'5C', x'815F'), (2, x'815F', x'6181AD62'), (3, x'6181AD62', x'5C')
REPLACE INTO sjis_u (id, a) VALUES (9, x'5C')
CREATE TABLE ascii (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET ascii
INSERT IGNORE INTO ascii (id, a, b) VALUES (0, x'3F', x'E9'), (1, x'E9', x'61E97A'), (2, x'61E97A', x'E9')
ALTER TABLE ascii ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING ascii)) STORED, ADD g25 INT AS (a COLLATE ascii_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET ascii)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET ascii AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET ascii AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE ascii ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE ascii ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE ascii SET id = id + 100
CREATE TABLE ascii_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET ascii PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', 'E9'), PARTITION p1 VALUES IN ('61E97A'))
INSERT IGNORE INTO ascii_p (id, a, b) VALUES (0, x'3F', x'E9'), (1, x'E9', x'61E97A'), (2, x'61E97A', x'E9')
ALTER TABLE ascii_p TRUNCATE PARTITION p1
CREATE TABLE ascii_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET ascii
INSERT IGNORE INTO ascii_c (id, a, b) VALUES (0, x'3F', x'E9'), (1, x'E9', x'61E97A'), (2, x'61E97A', x'E9')
ALTER IGNORE TABLE ascii_c ADD CHECK (a <> '?')
ALTER TABLE ascii_c ADD e ENUM('?', 'x') CHARACTER SET ascii DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE ascii_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET ascii
INSERT IGNORE INTO ascii_u (id, a, b) VALUES (0, x'3F', x'E9'), (1, x'E9', x'61E97A'), (2, x'61E97A', x'E9')
REPLACE INTO ascii_u (id, a) VALUES (9, x'E9')
CREATE TABLE big5 (id INT PRIMARY KEY, a VARCHAR(9), b VARCHAR(9), u VARCHAR(9) CHARACTER SET utf8mb4 DEFAULT 'Ж') CHARACTER SET big5
INSERT IGNORE INTO big5 (id, a, b) VALUES (0, x'3F', x'A1C3'), (1, x'A1C3', x'A2CE'), (2, x'A2CE', x'A440'), (3, x'A440', x'A1C3')
ALTER TABLE big5 ADD g0 VARCHAR(40) AS (HEX(a)) STORED, ADD g1 INT AS (LENGTH(a)) STORED, ADD g3 BIGINT AS (CRC32(a)) STORED, ADD g4 INT AS (ORD(a)) STORED, ADD g5 VARCHAR(40) AS (TO_BASE64(a)) STORED, ADD g6 VARBINARY(40) AS (a) STORED, ADD g7 VARBINARY(40) AS (CAST(a AS BINARY)) STORED, ADD g8 VARBINARY(40) AS (CONCAT(a, 'x', b)) STORED, ADD g9 VARBINARY(40) AS (CONCAT_WS('-', a, 5)) STORED, ADD g10 VARBINARY(40) AS (REVERSE(a)) STORED, ADD g11 VARBINARY(40) AS (SUBSTRING(a, 2)) STORED, ADD g12 VARBINARY(40) AS (RPAD(a, 4, 'x')) STORED, ADD g13 VARBINARY(40) AS (REPLACE(a, '?', 'q')) STORED, ADD g14 VARBINARY(40) AS (INSERT(a, 2, 1, 'q')) STORED, ADD g15 VARBINARY(40) AS (IF(id > 1, a, b)) STORED, ADD g16 VARBINARY(40) AS (COALESCE(NULL, a)) STORED, ADD g17 VARBINARY(40) AS (ELT(1, a, 'x')) STORED, ADD g18 VARBINARY(40) AS (MAKE_SET(3, a, b)) STORED, ADD g19 INT AS (a = '?') STORED, ADD g20 INT AS (a = b) STORED, ADD g21 INT AS (a IN ('?', 'x')) STORED, ADD g22 INT AS (FIELD(a, '?', 'x')) STORED, ADD g23 VARBINARY(40) AS (CONVERT(a USING utf8mb4)) STORED, ADD g24 VARBINARY(40) AS (CONVERT(CONVERT(a USING utf8mb4) USING big5)) STORED, ADD g25 INT AS (a COLLATE big5_bin = '?') STORED, ADD g26 VARBINARY(40) AS (CAST(a AS CHAR CHARACTER SET big5)) STORED, ADD g27 VARCHAR(40) CHARACTER SET utf8mb4 AS (CONCAT(a, 'x')) STORED, ADD g28 VARCHAR(40) CHARACTER SET big5 AS (CONCAT(a, 'x')) STORED, ADD g29 VARCHAR(40) CHARACTER SET latin1 AS (a) STORED, ADD g31 ENUM('x', '?') CHARACTER SET big5 AS (a) STORED, ADD g32 INT AS (CHAR_LENGTH(a)) STORED
ALTER TABLE big5 ADD g30 VARBINARY(40) AS (CONCAT(a, u)) STORED
ALTER TABLE big5 ADD m CHAR(32) AS (MD5(a)) STORED
UPDATE big5 SET id = id + 100
CREATE TABLE big5_p (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) CHARACTER SET ascii AS (HEX(a)) STORED) CHARACTER SET big5 PARTITION BY LIST COLUMNS (g) (PARTITION p0 VALUES IN ('3F', 'FF', 'A1C3'), PARTITION p1 VALUES IN ('A2CE', 'A440'))
INSERT IGNORE INTO big5_p (id, a, b) VALUES (0, x'3F', x'A1C3'), (1, x'A1C3', x'A2CE'), (2, x'A2CE', x'A440'), (3, x'A440', x'A1C3')
ALTER TABLE big5_p TRUNCATE PARTITION p1
CREATE TABLE big5_c (id INT, a VARCHAR(9), b VARCHAR(9)) CHARACTER SET big5
INSERT IGNORE INTO big5_c (id, a, b) VALUES (0, x'3F', x'A1C3'), (1, x'A1C3', x'A2CE'), (2, x'A2CE', x'A440'), (3, x'A440', x'A1C3')
ALTER IGNORE TABLE big5_c ADD CHECK (a <> '?')
ALTER TABLE big5_c ADD e ENUM('?', 'x') CHARACTER SET big5 DEFAULT '?', MODIFY b VARCHAR(9) CHARACTER SET utf8mb4
CREATE TABLE big5_u (id INT, a VARCHAR(9), b VARCHAR(9), g VARCHAR(20) AS (HEX(a)) VIRTUAL UNIQUE) CHARACTER SET big5
INSERT IGNORE INTO big5_u (id, a, b) VALUES (0, x'3F', x'A1C3'), (1, x'A1C3', x'A2CE'), (2, x'A2CE', x'A440'), (3, x'A440', x'A1C3')
REPLACE INTO big5_u (id, a) VALUES (9, x'A1C3')

-- text-in-the-set-of-the-first-argument
SET sql_mode=''
CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(9) CHARACTER SET latin1, b VARCHAR(9) CHARACTER SET ascii)
INSERT INTO t VALUES (1, 'é', 'x'), (2, 'x', 'y')
ALTER TABLE t ADD g VARBINARY(40) AS (RPAD('x', 4, a)) STORED, ADD h VARBINARY(40) AS (REPLACE('xay', 'a', a)) STORED, ADD i VARBINARY(40) AS (INSERT('xay', 2, 1, a)) STORED, ADD j VARBINARY(40) AS (LPAD(a, 4, 'x')) STORED
ALTER TABLE t ADD k VARBINARY(40) AS (SUBSTRING_INDEX('aéb', a, 1)) STORED, ADD l VARBINARY(40) AS (CONCAT('x', a)) STORED, ADD m VARBINARY(40) AS (REPLACE(a, 'é', 'ä')) STORED
ALTER TABLE t ADD n VARBINARY(40) AS (TRIM(a FROM 'xéx')) STORED, ADD o VARBINARY(40) AS (RPAD(5, 4, a)) STORED
UPDATE t SET id = id + 10

-- hexadecimal-literals
SET sql_mode=''
CREATE TABLE t (id INT PRIMARY KEY, n INT, s VARCHAR(9) CHARACTER SET latin1, v VARBINARY(9))
INSERT INTO t VALUES (1, 65, 'A', 'A'), (2, 65, 'é', '5'), (3, 3635, '65', '65')
ALTER TABLE t ADD d1 INT DEFAULT 0x41, ADD d2 INT DEFAULT X'35', ADD d3 VARCHAR(9) DEFAULT 0x41, ADD d4 VARCHAR(9) DEFAULT X'41', ADD d5 DECIMAL(10,2) DEFAULT 0x41, ADD d6 DECIMAL(10,2) DEFAULT x'3531', ADD d7 BIT(8) DEFAULT X'41', ADD d8 BIT(8) DEFAULT 0x41, ADD d9 DOUBLE DEFAULT 0x41, ADD d10 DOUBLE DEFAULT X'3531'
ALTER TABLE t ADD y1 YEAR DEFAULT 0x7D0, ADD y2 INT DEFAULT b'1000001', ADD y3 INT DEFAULT 0b110101, ADD y4 VARCHAR(9) DEFAULT b'1000001', ADD y5 VARBINARY(9) DEFAULT X'00FF', ADD y6 VARBINARY(9) DEFAULT 0x00FF
ALTER TABLE t ADD z1 YEAR DEFAULT X'32303230'
ALTER TABLE t ADD z2 VARCHAR(9) CHARACTER SET latin1 DEFAULT X'E9', ADD z3 VARCHAR(9) CHARACTER SET latin1 DEFAULT 0xE9
ALTER TABLE t ADD z4 DATETIME DEFAULT X'323032302D30312D3031'
ALTER TABLE t ADD z5 BIGINT UNSIGNED DEFAULT 0xFFFFFFFFFFFFFFFF
ALTER TABLE t ADD e1 INT DEFAULT (0x41), ADD e2 INT DEFAULT (0x41+0), ADD e3 INT DEFAULT (X'35'), ADD e4 INT DEFAULT (X'35'+0), ADD e5 INT DEFAULT (b'101'+1)
ALTER TABLE t ADD g1 INT AS (0x41 + id) STORED, ADD g2 INT AS (X'35' + id) STORED, ADD g3 INT AS (n = 0x41) STORED, ADD g4 INT AS (n = X'3635') STORED, ADD g5 INT AS (s = 0x41) STORED, ADD g6 INT AS (s = X'41') STORED, ADD g7 VARCHAR(9) AS (CONCAT(s, 0x41)) STORED, ADD g8 INT AS (0x41) STORED, ADD g9 INT AS (X'35') STORED, ADD g10 INT AS (n = b'1000001') STORED, ADD g11 INT AS (n = X'41') STORED
ALTER TABLE t ADD h1 INT AS (x'35' * 2) STORED, ADD h2 INT AS (n IN (0x41, 0x42)) STORED, ADD h3 INT AS (n > 0x41) STORED, ADD h4 INT AS (v = 0x41) STORED, ADD h5 INT AS (v = X'35') STORED, ADD h6 VARCHAR(9) AS (HEX(0x41)) STORED, ADD h7 VARCHAR(9) AS (HEX(X'41')) STORED, ADD h8 INT AS (-0x41) STORED, ADD h9 INT AS (id BETWEEN 0x02 AND 0x03) STORED
ALTER TABLE t ADD i1 INT AS (LENGTH(0x4142)) STORED, ADD i2 VARBINARY(9) AS (IF(id = 1, 0x41, X'42')) STORED, ADD i3 VARBINARY(9) AS (COALESCE(NULL, X'42')) STORED, ADD i4 DECIMAL(9,2) AS (X'312E35' + 0) STORED
UPDATE t SET id = id + 10
CREATE TABLE c (n INT)
INSERT INTO c VALUES (65), (66), (5)
ALTER IGNORE TABLE c ADD CHECK (n <> 0x41)
ALTER IGNORE TABLE c ADD CHECK (n <> X'35')
CREATE TABLE p (n INT, v VARBINARY(9)) PARTITION BY LIST COLUMNS (v) (PARTITION a VALUES IN (X'41'), PARTITION b VALUES IN (0x35, 0x42))
INSERT INTO p VALUES (1, 'A'), (2, '5'), (3, 'B')
ALTER TABLE p TRUNCATE PARTITION b
CREATE TABLE q (n INT) PARTITION BY LIST (n) (PARTITION a VALUES IN (0x41 + 0), PARTITION b VALUES IN (X'35' + 0))
INSERT INTO q VALUES (65), (5)
INSERT INTO q VALUES (53)
ALTER TABLE q TRUNCATE PARTITION b
CREATE TABLE r (n INT) PARTITION BY RANGE (n) (PARTITION a VALUES LESS THAN (0x41), PARTITION b VALUES LESS THAN MAXVALUE)
INSERT INTO r VALUES (64), (65)
ALTER TABLE r TRUNCATE PARTITION b

-- partitions-of-text
SET sql_mode=''
CREATE TABLE k_utf8mb4_0900_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_0900_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_0900_ai_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_0900_ai_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_0900_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_0900_ai_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_0900_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_0900_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_0900_ai_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_0900_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci)
ALTER TABLE k_utf8mb4_0900_ai_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_0900_ai_ci
UPDATE x_utf8mb4_0900_ai_ci SET id = id + 100
CREATE TABLE k_utf8mb4_0900_as_cs (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_0900_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_0900_as_cs TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_0900_as_cs (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_0900_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_0900_as_cs TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_0900_as_cs (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_0900_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_0900_as_cs TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_0900_as_cs (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs)
ALTER TABLE k_utf8mb4_0900_as_cs EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_0900_as_cs
UPDATE x_utf8mb4_0900_as_cs SET id = id + 100
CREATE TABLE k_utf8mb4_0900_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_0900_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_0900_bin TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_0900_bin (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_0900_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_0900_bin TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_0900_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_0900_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_0900_bin TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_0900_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin)
ALTER TABLE k_utf8mb4_0900_bin EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_0900_bin
UPDATE x_utf8mb4_0900_bin SET id = id + 100
CREATE TABLE k_utf8mb4_general_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci) PARTITION BY KEY ALGORITHM=1 (v) PARTITIONS 5
INSERT INTO k_utf8mb4_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_general_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_general_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_general_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_general_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_general_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_general_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci)
ALTER TABLE k_utf8mb4_general_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_general_ci
UPDATE x_utf8mb4_general_ci SET id = id + 100
CREATE TABLE k_utf8mb4_unicode_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_unicode_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_unicode_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_unicode_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_unicode_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_unicode_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_unicode_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_unicode_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_unicode_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_unicode_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci)
ALTER TABLE k_utf8mb4_unicode_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_unicode_ci
UPDATE x_utf8mb4_unicode_ci SET id = id + 100
CREATE TABLE k_utf8mb4_bin (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_bin TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_bin TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_bin (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_bin TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_bin (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin)
ALTER TABLE k_utf8mb4_bin EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_bin
UPDATE x_utf8mb4_bin SET id = id + 100
CREATE TABLE k_utf8mb3_general_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb3_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb3_general_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb3_general_ci (id INT, v CHAR(30) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb3_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb3_general_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb3_general_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb3_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb3_general_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb3_general_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci)
ALTER TABLE k_utf8mb3_general_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb3_general_ci
UPDATE x_utf8mb3_general_ci SET id = id + 100
CREATE TABLE k_latin1_swedish_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_latin1_swedish_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_latin1_swedish_ci TRUNCATE PARTITION p1
CREATE TABLE m_latin1_swedish_ci (id INT, v VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_latin1_swedish_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_latin1_swedish_ci TRUNCATE PARTITION p1
CREATE TABLE r_latin1_swedish_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_latin1_swedish_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_latin1_swedish_ci TRUNCATE PARTITION p1
CREATE TABLE x_latin1_swedish_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_ci)
ALTER TABLE k_latin1_swedish_ci EXCHANGE PARTITION p2 WITH TABLE x_latin1_swedish_ci
UPDATE x_latin1_swedish_ci SET id = id + 100
CREATE TABLE k_latin1_bin (id INT, v VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_latin1_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_latin1_bin TRUNCATE PARTITION p1
CREATE TABLE m_latin1_bin (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_bin) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_latin1_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_latin1_bin TRUNCATE PARTITION p1
CREATE TABLE r_latin1_bin (id INT, v VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_latin1_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_latin1_bin TRUNCATE PARTITION p1
CREATE TABLE x_latin1_bin (id INT, v VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin)
ALTER TABLE k_latin1_bin EXCHANGE PARTITION p2 WITH TABLE x_latin1_bin
UPDATE x_latin1_bin SET id = id + 100
CREATE TABLE k_cp1251_general_ci (id INT, v CHAR(30) CHARACTER SET cp1251 COLLATE cp1251_general_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_cp1251_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_cp1251_general_ci TRUNCATE PARTITION p1
CREATE TABLE m_cp1251_general_ci (id INT, v VARCHAR(40) CHARACTER SET cp1251 COLLATE cp1251_general_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_cp1251_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_cp1251_general_ci TRUNCATE PARTITION p1
CREATE TABLE r_cp1251_general_ci (id INT, v CHAR(30) CHARACTER SET cp1251 COLLATE cp1251_general_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_cp1251_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_cp1251_general_ci TRUNCATE PARTITION p1
CREATE TABLE x_cp1251_general_ci (id INT, v CHAR(30) CHARACTER SET cp1251 COLLATE cp1251_general_ci)
ALTER TABLE k_cp1251_general_ci EXCHANGE PARTITION p2 WITH TABLE x_cp1251_general_ci
UPDATE x_cp1251_general_ci SET id = id + 100
CREATE TABLE k_greek_general_ci (id INT, v VARCHAR(40) CHARACTER SET greek COLLATE greek_general_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_greek_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_greek_general_ci TRUNCATE PARTITION p1
CREATE TABLE m_greek_general_ci (id INT, v CHAR(30) CHARACTER SET greek COLLATE greek_general_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_greek_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_greek_general_ci TRUNCATE PARTITION p1
CREATE TABLE r_greek_general_ci (id INT, v VARCHAR(40) CHARACTER SET greek COLLATE greek_general_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_greek_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_greek_general_ci TRUNCATE PARTITION p1
CREATE TABLE x_greek_general_ci (id INT, v VARCHAR(40) CHARACTER SET greek COLLATE greek_general_ci)
ALTER TABLE k_greek_general_ci EXCHANGE PARTITION p2 WITH TABLE x_greek_general_ci
UPDATE x_greek_general_ci SET id = id + 100
CREATE TABLE k_ascii_general_ci (id INT, v CHAR(30) CHARACTER SET ascii COLLATE ascii_general_ci) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_ascii_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_ascii_general_ci TRUNCATE PARTITION p1
CREATE TABLE m_ascii_general_ci (id INT, v VARCHAR(40) CHARACTER SET ascii COLLATE ascii_general_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_ascii_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_ascii_general_ci TRUNCATE PARTITION p1
CREATE TABLE r_ascii_general_ci (id INT, v CHAR(30) CHARACTER SET ascii COLLATE ascii_general_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_ascii_general_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_ascii_general_ci TRUNCATE PARTITION p1
CREATE TABLE x_ascii_general_ci (id INT, v CHAR(30) CHARACTER SET ascii COLLATE ascii_general_ci)
ALTER TABLE k_ascii_general_ci EXCHANGE PARTITION p2 WITH TABLE x_ascii_general_ci
UPDATE x_ascii_general_ci SET id = id + 100
CREATE TABLE k_utf8mb4_nopad_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_nopad_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_nopad_bin TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_nopad_bin (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_nopad_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_nopad_bin TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_nopad_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_nopad_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_nopad_bin TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_nopad_bin (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin)
ALTER TABLE k_utf8mb4_nopad_bin EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_nopad_bin
UPDATE x_utf8mb4_nopad_bin SET id = id + 100
CREATE TABLE k_utf8mb4_general_nopad_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_general_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_general_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_general_nopad_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_general_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_general_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_general_nopad_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_general_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_general_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_general_nopad_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_nopad_ci)
ALTER TABLE k_utf8mb4_general_nopad_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_general_nopad_ci
UPDATE x_utf8mb4_general_nopad_ci SET id = id + 100
CREATE TABLE k_utf8mb4_unicode_nopad_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_unicode_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_unicode_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_unicode_nopad_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_unicode_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_unicode_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_unicode_nopad_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_unicode_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_unicode_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_unicode_nopad_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_nopad_ci)
ALTER TABLE k_utf8mb4_unicode_nopad_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_unicode_nopad_ci
UPDATE x_utf8mb4_unicode_nopad_ci SET id = id + 100
CREATE TABLE k_latin1_swedish_nopad_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_nopad_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_latin1_swedish_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_latin1_swedish_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE m_latin1_swedish_nopad_ci (id INT, v VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_swedish_nopad_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_latin1_swedish_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_latin1_swedish_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE r_latin1_swedish_nopad_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_nopad_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_latin1_swedish_nopad_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_latin1_swedish_nopad_ci TRUNCATE PARTITION p1
CREATE TABLE x_latin1_swedish_nopad_ci (id INT, v CHAR(30) CHARACTER SET latin1 COLLATE latin1_swedish_nopad_ci)
ALTER TABLE k_latin1_swedish_nopad_ci EXCHANGE PARTITION p2 WITH TABLE x_latin1_swedish_nopad_ci
UPDATE x_latin1_swedish_nopad_ci SET id = id + 100
CREATE TABLE k_utf8mb4_uca1400_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_uca1400_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_uca1400_ai_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_uca1400_ai_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_uca1400_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_uca1400_ai_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_uca1400_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_uca1400_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_uca1400_ai_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_uca1400_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_ai_ci)
ALTER TABLE k_utf8mb4_uca1400_ai_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_uca1400_ai_ci
UPDATE x_utf8mb4_uca1400_ai_ci SET id = id + 100
CREATE TABLE k_utf8mb4_uca1400_nopad_ai_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci) PARTITION BY LINEAR KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_uca1400_nopad_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_uca1400_nopad_ai_ci TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_uca1400_nopad_ai_ci (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_uca1400_nopad_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_uca1400_nopad_ai_ci TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_uca1400_nopad_ai_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_uca1400_nopad_ai_ci VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_uca1400_nopad_ai_ci TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_uca1400_nopad_ai_ci (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_ai_ci)
ALTER TABLE k_utf8mb4_uca1400_nopad_ai_ci EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_uca1400_nopad_ai_ci
UPDATE x_utf8mb4_uca1400_nopad_ai_ci SET id = id + 100
CREATE TABLE k_utf8mb4_uca1400_nopad_as_cs (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_as_cs) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_utf8mb4_uca1400_nopad_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_utf8mb4_uca1400_nopad_as_cs TRUNCATE PARTITION p1
CREATE TABLE m_utf8mb4_uca1400_nopad_as_cs (id INT, v CHAR(30) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_as_cs) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_utf8mb4_uca1400_nopad_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_utf8mb4_uca1400_nopad_as_cs TRUNCATE PARTITION p1
CREATE TABLE r_utf8mb4_uca1400_nopad_as_cs (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_as_cs) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_utf8mb4_uca1400_nopad_as_cs VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_utf8mb4_uca1400_nopad_as_cs TRUNCATE PARTITION p1
CREATE TABLE x_utf8mb4_uca1400_nopad_as_cs (id INT, v VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_uca1400_nopad_as_cs)
ALTER TABLE k_utf8mb4_uca1400_nopad_as_cs EXCHANGE PARTITION p2 WITH TABLE x_utf8mb4_uca1400_nopad_as_cs
UPDATE x_utf8mb4_uca1400_nopad_as_cs SET id = id + 100
CREATE TABLE k_koi8r_bin (id INT, v CHAR(30) CHARACTER SET koi8r COLLATE koi8r_bin) PARTITION BY KEY (v) PARTITIONS 5
INSERT INTO k_koi8r_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE k_koi8r_bin TRUNCATE PARTITION p1
CREATE TABLE m_koi8r_bin (id INT, v VARCHAR(40) CHARACTER SET koi8r COLLATE koi8r_bin) PARTITION BY KEY (v, id) PARTITIONS 3
INSERT INTO m_koi8r_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE m_koi8r_bin TRUNCATE PARTITION p1
CREATE TABLE r_koi8r_bin (id INT, v CHAR(30) CHARACTER SET koi8r COLLATE koi8r_bin) PARTITION BY RANGE COLUMNS (v) (PARTITION p0 VALUES LESS THAN ('B'), PARTITION p1 VALUES LESS THAN ('l'), PARTITION p2 VALUES LESS THAN ('u'), PARTITION p3 VALUES LESS THAN (MAXVALUE))
INSERT INTO r_koi8r_bin VALUES (0, ''), (1, 'a'), (2, 'A'), (3, 'a '), (4, 'b'), (5, 'abc'), (6, 'Abc  '), (7, 'é'), (8, 'É'), (9, 'ß'), (10, 'ss'), (11, 'Ж'), (12, 'жа'), (13, '日本'), (14, 'z'), (15, '0'), (16, '-1'), (17, 'long text with spaces'), (18, 'ü'), (19, 'œ'), (20, '%'), (21, NULL)
ALTER TABLE r_koi8r_bin TRUNCATE PARTITION p1
CREATE TABLE x_koi8r_bin (id INT, v CHAR(30) CHARACTER SET koi8r COLLATE koi8r_bin)
ALTER TABLE k_koi8r_bin EXCHANGE PARTITION p2 WITH TABLE x_koi8r_bin
UPDATE x_koi8r_bin SET id = id + 100
CREATE TABLE b (id INT, v VARBINARY(40), w BINARY(4)) PARTITION BY KEY (v, w) PARTITIONS 5
INSERT INTO b VALUES (0, '', 0), (1, 'a', 1), (2, 'A', 2), (3, 'a ', 3), (4, 'b', 4), (5, 'abc', 5), (6, 'Abc  ', 6), (7, 'é', 7), (8, 'É', 8), (9, 'ß', 9), (10, 'ss', 10), (11, 'Ж', 11), (12, 'жа', 12), (13, '日本', 13), (14, 'z', 14), (15, '0', 15), (16, '-1', 16), (17, 'long text with spaces', 17), (18, 'ü', 18), (19, 'œ', 19), (20, '%', 20)
ALTER TABLE b TRUNCATE PARTITION p1, p3
CREATE TABLE l (id INT, v VARCHAR(40) CHARACTER SET latin1, KEY (v)) PARTITION BY LIST COLUMNS (v) (PARTITION p0 VALUES IN ('A', 'é'), PARTITION p1 VALUES IN ('b', NULL, 'ü'))
INSERT INTO l VALUES (1, 'a'), (2, 'É'), (3, 'B'), (4, NULL), (5, 'ü '), (6, 'Ü')
ALTER TABLE l REORGANIZE PARTITION p1 INTO (PARTITION p2 VALUES IN ('b'), PARTITION p3 VALUES IN (NULL, 'ü'))
ALTER TABLE l DROP PARTITION p3

-- bytes-that-are-no-utf8-on-a-replica
ALTER DATABASE d CHARACTER SET utf8mb4
SET NAMES utf8mb4, sql_mode='MYSQL40'
CREATE TABLE t (id INT PRIMARY KEY, a TINYTEXT COLLATE utf16_bin, b TEXT COLLATE ucs2_bin, c TEXT COLLATE utf32_bin)
INSERT INTO t VALUES (1, 'ｱ', 'ｱ', 'ｱ'), (2, 'ж', 'aжb', 'ж'), (3, 'À', 'ä𠃵', '𠃵'), (4, 'xý', 'ýx', 'ð')
CREATE TABLE u SELECT * FROM t
ALTER TABLE u CONVERT TO CHARACTER SET cp1251
CREATE TABLE v SELECT * FROM t
ALTER TABLE v MODIFY a TEXT CHARACTER SET utf16, MODIFY b TEXT CHARACTER SET utf8mb3, MODIFY c VARCHAR(20) CHARACTER SET latin1
