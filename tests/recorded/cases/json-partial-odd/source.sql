CREATE DATABASE odd CHARACTER SET utf8mb4;
USE odd;
SET time_zone = '+00:00';
-- 1. Names: every control character, quotes, backslashes, what looks like a path, characters that MySQL's paths quote or do not
CREATE TABLE names (id INT NOT NULL PRIMARY KEY, j JSON);
SET @d = JSON_OBJECT('pad', REPEAT('.', 3000));
INSERT INTO names VALUES (1, @d), (2, @d), (3, @d), (4, @d), (5, @d), (6, @d);
UPDATE names SET j = JSON_SET(j, '$."\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"', 1, '$."\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c\\u001d\\u001e\\u001f\\u007f"', 2) WHERE id = 1;
UPDATE names SET j = JSON_SET(j, '$."\\""', 1, '$."\\\\"', 2, '$."\'"', 3, '$."`"', 4, '$."/"', 5, '$."a\\"b\\\\c\'d"', 6, '$." "', 7, '$.""', 8, '$."%s"', 9, '$."0"', 10, '$."-1"', 11, '$."a.b[0]"', 12, '$."$"', 13, '$."*"', 14, '$."last"', 15, '$."]"', 16, '$."a]"', 17) WHERE id = 2;
UPDATE names SET j = JSON_SET(j, '$."日"', 1, '$."本"', 2, '$."日本"', 3, '$."é"', 4, '$."ÿ"', 5, '$."Ā"', 6, '$."😀"', 7, '$."😁"', 8, '$."ё"', 9, '$."ñandú"', 10, '$."e\\u0301"', 11, '$."\\u0301e"', 12, '$."a\\u200db"', 13, '$."\\u00a0"', 14, '$."\\ufeff"', 15, '$."_x$1"', 16) WHERE id = 3;
UPDATE names SET j = JSON_SET(j, CONCAT('$.', REPEAT('n', 250)), 1, CONCAT('$.', REPEAT('n', 249)), 2, CONCAT('$.', REPEAT('n', 248)), 3, CONCAT('$."', REPEAT('\\\\', 130), '"'), 4) WHERE id = 4;
UPDATE names SET j = JSON_REMOVE(JSON_REPLACE(JSON_SET(j, '$.a', 'x', '$.b', 'y'), '$.a', 'a''b', '$.b', 'it\\s'), '$.a', '$.b') WHERE id = 5;
UPDATE names SET j = JSON_SET(JSON_REMOVE(JSON_SET(JSON_REMOVE(JSON_SET(j, '$.l', JSON_ARRAY()), '$.pad'), '$.l[0]', 1), '$.l[0]'), '$.l[0]', 2, '$.l[1]', 3) WHERE id = 6;
-- 2. Values: text with everything that is escaped, and every type
CREATE TABLE vals (id INT NOT NULL PRIMARY KEY, j JSON);
INSERT INTO vals VALUES (1, @d), (2, @d), (3, @d), (4, @d);
UPDATE vals SET j = JSON_SET(j, '$.controls', CONCAT(CHAR(0 USING utf8mb4), CHAR(1 USING utf8mb4), CHAR(7 USING utf8mb4), CHAR(8 USING utf8mb4), CHAR(9 USING utf8mb4), CHAR(10 USING utf8mb4), CHAR(11 USING utf8mb4), CHAR(12 USING utf8mb4), CHAR(13 USING utf8mb4), CHAR(26 USING utf8mb4), CHAR(27 USING utf8mb4), CHAR(31 USING utf8mb4), CHAR(127 USING utf8mb4)), '$.quotes', '''"`\\/', '$.percent', '%d %s %%', '$.long', REPEAT('日', 300), '$.null_text', 'NULL', '$.json_text', '{"a": [1, "x"]}') WHERE id = 1;
UPDATE vals SET j = JSON_SET(j, '$.n', NULL, '$.t', TRUE, '$.f', FALSE, '$.i', -9223372036854775808, '$.u', 18446744073709551615, '$.s', -1, '$.d', 1.5e0, '$.d1', 1e0, '$.d2', -0e0, '$.d3', 1.7976931348623157e308, '$.d4', 5e-324, '$.dec', 1.10, '$.dec2', CAST('-99999999999999999999999999999999999.999999999999999999999999999999' AS DECIMAL(65,30)), '$.dec3', CAST(0 AS DECIMAL(1,0))) WHERE id = 2;
UPDATE vals SET j = JSON_SET(j, '$.date', DATE'9999-12-31', '$.time', TIME'-838:59:59', '$.time6', TIME'00:00:00.000001', '$.dt', TIMESTAMP'1000-01-01 00:00:00', '$.bin', x'00ff27225c0a', '$.bit', b'1', '$.empty', x'', '$.longbin', CAST(REPEAT('b', 200) AS BINARY), '$.year', CAST(2024 AS YEAR), '$.point', ST_GeomFromText('POINT(1 2)'), '$.text', CAST('x' AS CHAR)) WHERE id = 3;
UPDATE vals SET j = JSON_SET(j, '$.a', JSON_ARRAY(), '$.o', JSON_OBJECT(), '$.deep', JSON_ARRAY(JSON_OBJECT('k''"\\', JSON_ARRAY('v''"\\', CONCAT('line', CHAR(10 USING utf8mb4), 'feed'), NULL, TRUE, 1.0, 1e0, DATE'2020-01-01', x'00'))), '$.deep[0].x', JSON_ARRAY(1)) WHERE id = 4;
-- 3. Arrays: last, both ends, arrays in arrays, the whole chain of one row; the root is an array
CREATE TABLE arrays (id INT NOT NULL PRIMARY KEY, j JSON);
SET @a = JSON_ARRAY(REPEAT('.', 100), JSON_ARRAY(JSON_ARRAY(1, 2), JSON_ARRAY(3)), 'x', 'y');
INSERT INTO arrays VALUES (1, @a), (2, @a), (3, @a), (4, @a);
UPDATE arrays SET j = JSON_SET(j, '$[4]', 'end', '$[99]', 'far', '$[1][0][2]', 'in', '$[1][2]', JSON_ARRAY(NULL)) WHERE id = 1;
UPDATE arrays SET j = JSON_SET(j, '$[last]', 'L', '$[last-1]', 'M', '$[1][last][last]', 'N', '$[1][last-1][last-1]', 'O') WHERE id = 2;
UPDATE arrays SET j = JSON_REMOVE(j, '$[last]', '$[last-1]', '$[1][0][last]', '$[1][last]') WHERE id = 3;
UPDATE arrays SET j = JSON_SET(j, '$[2][0]', 'same place', '$[3][1]', 'wrapped', '$[1][0][0][0][0]', 'scalar') WHERE id = 4;
UPDATE arrays SET j = JSON_SET(JSON_REMOVE(j, '$[0]'), '$[9]', '$[0]');
-- 4. Several columns: no change, NULL, full and partial side by side; without a key
CREATE TABLE many (a JSON, `b``"` JSON, c VARCHAR(30), d JSON);
INSERT INTO many VALUES (@d, @a, 'it''s "c" \\', NULL), (@d, NULL, NULL, '1'), (NULL, @a, 'é', @d), ('{}', '[]', '', 'null');
UPDATE many SET a = JSON_SET(a, '$.k', c), `b``"` = JSON_SET(`b``"`, '$[0]', c), d = JSON_SET(d, '$.k', 1), c = CONCAT(c, '\n');
UPDATE many SET a = JSON_REPLACE(a, '$.none', 1), `b``"` = JSON_REMOVE(`b``"`, '$[99]'), d = JSON_REMOVE(d, '$.none'), c = 'no change in the documents';
UPDATE many SET a = JSON_REMOVE(a, '$.k'), `b``"` = NULL, d = @d WHERE d IS NOT NULL;
