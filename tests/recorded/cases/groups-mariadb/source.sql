-- Groups that MariaDB writes around tables without transactions, prepared transactions, and ALTERs in two phases
-- @conn one
CREATE DATABASE g; USE g;
CREATE TABLE t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;
CREATE TABLE m (id INT PRIMARY KEY, v INT) ENGINE=MyISAM;
CREATE TABLE ar (id INT PRIMARY KEY, v INT) ENGINE=Aria;
CREATE TABLE al (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;
INSERT INTO t VALUES (1, 1), (2, 1);
INSERT INTO ar VALUES (1, 1);
-- @mark start
-- nested savepoints, whose names have no case; the rows of m are logged in groups of their own before
CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO m VALUES (NEW.id, 7);
BEGIN; INSERT INTO t VALUES (5, 5); ROLLBACK;
BEGIN;
INSERT INTO t VALUES (6, 6);
SAVEPOINT a;
INSERT INTO t VALUES (7, 7);
SAVEPOINT `B ``b`;
INSERT INTO t VALUES (8, 8);
ROLLBACK TO `b ``B`;
INSERT INTO t VALUES (9, 9);
SAVEPOINT a2; INSERT INTO t VALUES (10, 10); RELEASE SAVEPOINT a2;
ROLLBACK TO A;
INSERT INTO t VALUES (11, 11);
SAVEPOINT a;
INSERT INTO t VALUES (12, 12);
SAVEPOINT a;
INSERT INTO t VALUES (13, 13);
ROLLBACK TO a;
COMMIT;
DROP TRIGGER tr;
-- @mark savepoints
-- a group that is rolled back as a whole, since it made a temporary table
BEGIN; INSERT INTO t VALUES (20, 20); CREATE TEMPORARY TABLE tmp (i INT); ROLLBACK;
BEGIN; INSERT INTO t VALUES (21, 21); INSERT INTO ar VALUES (21, 21); CREATE TEMPORARY TABLE tmp2 (i INT); ROLLBACK;
-- @mark rolled_back
XA START 'q'; INSERT INTO t VALUES (30, 30); INSERT INTO m VALUES (30, 30); UPDATE t SET v = 31 WHERE id = 30; XA END 'q'; XA PREPARE 'q';
-- @mark one_prepared
XA ROLLBACK 'q';
XA START 'r'; INSERT INTO t VALUES (32, 32); SAVEPOINT x; INSERT INTO t VALUES (33, 33); INSERT INTO m VALUES (33, 33); ROLLBACK TO x; XA END 'r'; XA PREPARE 'r';
-- @conn other
USE g;
-- @flush
INSERT INTO t VALUES (34, 34);
-- @mark over_a_rotation
-- @conn one
XA COMMIT 'r';
XA START 'e'; XA END 'e'; XA PREPARE 'e'; XA COMMIT 'e';
XA START 'm'; INSERT INTO m VALUES (40, 1); XA END 'm'; XA PREPARE 'm'; XA ROLLBACK 'm';
XA START 'q'; INSERT INTO t VALUES (41, 41); XA END 'q'; XA PREPARE 'q'; XA COMMIT 'q';
-- the same xid again, and one that nobody ever ends
XA START 'q'; DELETE FROM t WHERE id = 41; XA END 'q'; XA PREPARE 'q';
-- @conn other
INSERT INTO t VALUES (50, 50);
DO SLEEP(2);
INSERT INTO t VALUES (51, 51);
-- @mark pending
SET SESSION binlog_alter_two_phase = 1;
INSERT INTO al VALUES (1, 1), (2, 1);
ALTER TABLE al ADD COLUMN n INT DEFAULT 3;
BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; ALTER TABLE al ADD UNIQUE (v); END;
ALTER TABLE al DROP COLUMN n, ALGORITHM=COPY;
-- GTIDs that go back, and domains
SET SESSION server_id = 99, gtid_seq_no = 5000; INSERT INTO t VALUES (60, 60);
SET SESSION gtid_domain_id = 3; SET SESSION gtid_seq_no = 10; INSERT INTO t VALUES (61, 61);
-- @mark domains
SET SESSION gtid_domain_id = 0; SET SESSION gtid_seq_no = 700; INSERT INTO t VALUES (62, 62);
-- @mark back
INSERT INTO t VALUES (63, 63);
