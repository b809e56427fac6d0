"""Records the log of a source, and that of a replica which filters it.

    python -m tests.recorded.rewrite.record_filtered NAME SOURCE_PORT SOURCE_DATADIR PORT DATADIR

Both servers are new, and of the kind that NAME names. The replica writes what it applies to its own log, and has
replicate-wild-ignore-table=gone.% and replicate-rewrite-db=old->new. A MySQL replica with filters refuses XA
transactions of tables that it ignores (3898), so there are none for it. Of NAME ending with -plain, the servers are of
MySQL without GTIDs.
"""

import shutil
import sys
import time
from pathlib import Path

import pymysql

FIRST = """
CREATE DATABASE keep
CREATE DATABASE gone
CREATE DATABASE old
CREATE TABLE keep.t (id INT PRIMARY KEY, v INT)
CREATE TABLE gone.t (id INT PRIMARY KEY, v INT, b VARCHAR(2000))
USE old
CREATE TABLE r (id INT PRIMARY KEY, v INT)
INSERT INTO r VALUES (1, 1)
INSERT INTO keep.t VALUES (1, 1)
INSERT INTO gone.t VALUES (1, 1, 'x')
BEGIN
INSERT INTO keep.t VALUES (2, 2)
INSERT INTO gone.t VALUES (2, 2, 'x')
COMMIT
BEGIN
INSERT INTO gone.t VALUES (3, 2, 'x')
INSERT INTO gone.t VALUES (4, 2, 'x')
COMMIT
USE keep
UPDATE keep.t, gone.t SET keep.t.v = 9, gone.t.v = 9 WHERE keep.t.id = gone.t.id
UPDATE gone.t, keep.t SET keep.t.v = 8, gone.t.v = 8 WHERE keep.t.id = gone.t.id
ALTER TABLE gone.t ADD x INT
CREATE TABLE gone.t2 (id INT)
DROP TABLE gone.t2
CREATE TABLE gone.w (id INT)
RENAME TABLE gone.w TO gone.w2
USE gone
CREATE VIEW vv AS SELECT 1
CREATE VIEW keep.vv AS SELECT 1
CREATE TABLE keep.u (id INT)
CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 0
CREATE USER zz@localhost
GRANT SELECT ON gone.t TO zz@localhost
GRANT SELECT ON keep.t TO zz@localhost
ANALYZE TABLE gone.t
TRUNCATE gone.t
CREATE TABLE ct AS SELECT * FROM keep.t
CREATE TABLE keep.ct AS SELECT * FROM keep.t
DROP TABLE ct
{compress}
BEGIN
INSERT INTO keep.t VALUES (201, 1)
INSERT INTO gone.t VALUES (201, 1, REPEAT('x', 1000), 2)
COMMIT
INSERT INTO gone.t VALUES (203, 1, REPEAT('x', 1000), 2)
INSERT INTO old.r VALUES (2, 2)
BEGIN
INSERT INTO keep.t VALUES (204, 1)
INSERT INTO gone.t VALUES (205, 1, REPEAT('x', 1000), 2)
UPDATE old.r SET v = 5
COMMIT
{plain}
BEGIN
INSERT INTO gone.t VALUES (206, 1, 'x', 2)
INSERT INTO keep.t VALUES (206, 1)
SAVEPOINT s
INSERT INTO gone.t VALUES (207, 1, 'x', 2)
ROLLBACK TO s
COMMIT
FLUSH BINARY LOGS
INSERT INTO gone.t VALUES (300, 1, 'x', 2)
INSERT INTO keep.t VALUES (301, 1)
FLUSH BINARY LOGS
INSERT INTO gone.t VALUES (302, 1, 'x', 2)
"""
XA = """
XA START 'a'
INSERT INTO gone.t VALUES (400, 1, 'x', 2)
XA END 'a'
XA PREPARE 'a'
XA COMMIT 'a'
XA START 'b'
INSERT INTO keep.t VALUES (401, 1)
XA END 'b'
XA PREPARE 'b'
XA COMMIT 'b'
"""
LAST = "INSERT INTO keep.t VALUES (500, 1)"


def main(name: str, source_port: str, source_datadir: str, port: str, datadir: str) -> None:
    """Record one."""
    source, replica = (pymysql.connect(host="127.0.0.1", port=int(number), user="root", autocommit=True)
                       for number in (source_port, port))
    is_mariadb = "mariadb" in name
    word = "SLAVE" if is_mariadb else "REPLICA"
    compress = ["SET binlog_transaction_compression = 1", "SET binlog_transaction_compression = 0"]
    if is_mariadb:
        compress = ["SET GLOBAL log_bin_compress = 1", "SET GLOBAL log_bin_compress = 0"]
        run(replica, f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={source_port}, MASTER_USER='root', "
                     "MASTER_USE_GTID=slave_pos")
    else:
        auto = int(not name.endswith("-plain"))
        run(replica, f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source_port}, "
                     f"SOURCE_USER='root', GET_SOURCE_PUBLIC_KEY=1, SOURCE_AUTO_POSITION={auto}")
    run(replica, "SET sql_log_bin = 0", "CREATE DATABASE new", f"START {word}")
    text = FIRST.format(compress=compress[0], plain=compress[1]) + (XA if is_mariadb else "") + LAST
    run(source, *(line for line in text.splitlines() if line))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if run(replica, "SELECT COUNT(*) FROM keep.t WHERE id = 500") == ((1,),):
                break
        except pymysql.MySQLError:
            pass
        time.sleep(0.2)
    else:
        raise RuntimeError(f"the replica did not follow: {run(replica, f'SHOW {word} STATUS')}")
    run(replica, f"STOP {word}", "FLUSH BINARY LOGS")
    made = Path(__file__).parent / name
    shutil.rmtree(made, ignore_errors=True)
    for folder, place in (("source", source_datadir), ("replica", datadir)):
        (made / folder).mkdir(parents=True)
        for log in sorted(Path(place).glob("binlog.0?????")):
            shutil.copyfile(log, made / folder / log.name)


def run(connection: pymysql.Connection, *statements: str) -> tuple:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall()


if __name__ == "__main__":
    main(*sys.argv[1:])
