"""Records the log of a server in a ring of two, and the rows of a replica that leaves some of its transactions out.

    python -m tests.recorded.left_out.record_left_out gtids|servers SOURCE OTHER REPLICA FOLDER

The servers are URLs as real_replicas takes them, all of MySQL or all of MariaDB; what they hold and replicate is gone
afterwards. `gtids`: the replica skips transactions by GTID. On MySQL it has executed empty ones with their GTIDs;
on MariaDB it stops before each and is set behind it (gtid_slave_pos). `servers`: it ignores what comes from OTHER, by
IGNORE_SERVER_IDS, which MySQL refuses with gtid_mode=ON (3139), so its servers have it OFF.

A folder has binlog.NNNNNN of SOURCE, case.json {"server", "exclude_gtids" or "ignore_server_ids", "position", "gtids":
what the replica has executed in the end} and expected/ with its rows (tests/support/real_server.py).
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.recorded.differential.real_replicas import Server

SOURCE, OTHER, BESIDE = range(3)
"""Where something is done; BESIDE is another session of the source."""
LEFT_OUT = "left out"
"""Of a step in the mode `gtids`."""

COMPRESSED = {"mysql": "SET binlog_transaction_compression = {}", "mariadb": "SET GLOBAL log_bin_compress = {}"}


def steps(flavour: str, compressed: list[str]) -> Iterator[tuple[int, list[str], str | None]]:
    """What is done: where, the statements of one event group, and whether it is left out. Nothing that stays
    needs a row that is left out; some continues with rows that it has changed."""
    yield SOURCE, ["CREATE DATABASE d"], None
    yield SOURCE, ["CREATE TABLE d.item (id INT PRIMARY KEY, n INT, s VARCHAR(40)) ENGINE=InnoDB"], None
    yield SOURCE, ["CREATE TABLE d.part (id INT PRIMARY KEY, item INT, "
                   "FOREIGN KEY (item) REFERENCES d.item (id) ON DELETE CASCADE) ENGINE=InnoDB"], None
    yield SOURCE, ["CREATE TABLE d.noted (n INT, s VARCHAR(40)) ENGINE=InnoDB"], None
    yield SOURCE, ["CREATE TABLE d.kept (n INT PRIMARY KEY) ENGINE=MyISAM"], None
    yield SOURCE, ["BEGIN", *(f"INSERT INTO d.item VALUES ({n}, {n}, 'first')" for n in range(1, 10)), "COMMIT"], None
    yield SOURCE, ["INSERT INTO d.item VALUES (11, 11, 'left'), (12, 12, 'left')"], LEFT_OUT
    yield OTHER, ["INSERT INTO d.item VALUES (101, 1, 'other'), (102, 2, 'other')"], None
    yield OTHER, ["SET binlog_row_image = minimal", "UPDATE d.item SET n = 1000 WHERE id IN (2, 3)"], LEFT_OUT
    yield SOURCE, ["SET binlog_row_image = minimal", "UPDATE d.item SET s = 'after' WHERE id IN (1, 2)"], None
    yield SOURCE, ["SET binlog_row_image = full", "UPDATE d.item SET s = 'whole' WHERE id = 3"], None
    yield SOURCE, ["CREATE TABLE d.gone (id INT PRIMARY KEY)"], LEFT_OUT
    yield SOURCE, ["INSERT INTO d.gone VALUES (1), (2)"], LEFT_OUT
    yield SOURCE, ["ALTER TABLE d.item ADD COLUMN more INT NOT NULL DEFAULT 7"], None
    yield SOURCE, ["INSERT INTO d.noted VALUES (1, 'same'), (1, 'same'), (2, NULL)"], None
    yield SOURCE, ["INSERT INTO d.noted VALUES (1, 'same'), (3, 'left')"], LEFT_OUT
    yield SOURCE, ["INSERT INTO d.kept VALUES (1), (2)"], None
    yield SOURCE, ["INSERT INTO d.kept VALUES (3)"], LEFT_OUT
    yield SOURCE, ["XA START 'one'", "INSERT INTO d.item VALUES (21, 21, 'xa', 1)", "XA END 'one'",
                   "XA PREPARE 'one'"], LEFT_OUT
    yield OTHER, ["UPDATE d.item SET n = n + 1 WHERE id > 100"], None
    yield SOURCE, ["XA COMMIT 'one'"], LEFT_OUT
    yield SOURCE, ["XA START 'two'", "INSERT INTO d.item VALUES (22, 22, 'xa', 1)", "XA END 'two'",
                   "XA PREPARE 'two'"], None
    yield BESIDE, ["INSERT INTO d.item VALUES (23, 23, 'left', 1)"], LEFT_OUT
    yield BESIDE, ["FLUSH BINARY LOGS"], None
    yield SOURCE, ["XA COMMIT 'two'"], None
    yield SOURCE, ["INSERT INTO d.part VALUES (1, 4), (2, 4), (3, 5), (4, 5)"], None
    yield SOURCE, ["DELETE FROM d.item WHERE id = 4"], LEFT_OUT
    yield SOURCE, ["DELETE FROM d.item WHERE id = 5"], None
    on, off = ([statement.format(state)] for statement in compressed for state in ("ON", "OFF"))
    yield SOURCE, [*on, "BEGIN", *(f"INSERT INTO d.item VALUES ({n}, {n}, REPEAT('c', 30), 2)" for n in range(30, 50)),
                   "COMMIT"], None
    yield SOURCE, ["BEGIN", *(f"INSERT INTO d.item VALUES ({n}, {n}, REPEAT('l', 30), 2)" for n in range(50, 60)),
                   "COMMIT"], LEFT_OUT
    yield SOURCE, ["UPDATE d.item SET n = n * 2 WHERE id BETWEEN 35 AND 40"], None
    yield SOURCE, [*off, "DELETE FROM d.noted WHERE n = 1 LIMIT 1"], None
    yield OTHER, ["INSERT INTO d.item VALUES (103, 3, 'last', 3)"], LEFT_OUT
    yield OTHER, ["DELETE FROM d.item WHERE id = 101"], None
    yield SOURCE, ["BEGIN", "INSERT INTO d.item VALUES (60, 60, 'last', 4)", "UPDATE d.item SET n = 0 WHERE id = 9",
                   "COMMIT"], None
    yield OTHER, ["UPDATE d.item SET n = 5 WHERE id = 102"], None


class Member:
    """A server of the ring, or the replica."""

    def __init__(self, url: str):
        self.server = Server(url)
        self.is_mysql = self.server.flavour == "mysql"
        self.run = self.server.run
        self.run(f"STOP {self.replica}")
        self.run(f"RESET {self.replica} ALL")

    @property
    def replica(self) -> str:
        return "REPLICA" if self.is_mysql else "SLAVE"

    def beside(self, statement: str) -> None:
        """Run a statement in a session of its own."""
        with self.server.connect().cursor() as cursor:
            cursor.execute("SET sql_log_bin = 1")
            cursor.execute(statement)

    def clear(self) -> None:
        self.run("DROP DATABASE IF EXISTS d")
        self.run("RESET BINARY LOGS AND GTIDS" if self.is_mysql else "RESET MASTER")
        if not self.is_mysql:
            self.run("SET GLOBAL gtid_slave_pos = ''")

    @property
    def has_gtids(self) -> bool:
        return not self.is_mysql or self.run("SELECT @@gtid_mode")[0][0] == "ON"

    @property
    def executed(self) -> str:
        """What is in its log."""
        return self.run("SELECT @@gtid_executed" if self.is_mysql else "SELECT @@gtid_binlog_pos")[0][0] \
            .replace("\n", "")

    @property
    def place(self) -> tuple[str, int]:
        row = self.run("SHOW BINARY LOG STATUS" if self.is_mysql else "SHOW MASTER STATUS")[0]
        return row[0], int(row[1])

    def follow(self, other: Member, ignore: str = "") -> None:
        """Replicate from another one."""
        port = other.server.place.port
        if self.is_mysql:
            self.run(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='root', "
                     f"GET_SOURCE_PUBLIC_KEY=1, SOURCE_AUTO_POSITION={int(self.has_gtids)}{ignore}")
        else:
            self.run(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={port}, MASTER_USER='root', "
                     f"MASTER_USE_GTID=slave_pos{ignore}")

    def wait(self, other: Member) -> None:
        """Wait until all that is in the log of another one, which it follows, is executed here."""
        if self.is_mysql and not self.has_gtids:
            found = self.run("SELECT SOURCE_POS_WAIT('{}', {}, 20)".format(*other.place))
        elif self.is_mysql:
            found = [("x",)] if self.run(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{other.executed}', 20)")[0][0] == "0" \
                else [(None,)]
        else:
            found = [("x",)] if self.run(f"SELECT MASTER_GTID_WAIT('{other.executed}', 20)")[0][0] == "0" else [(None,)]
        if found[0][0] in (None, "-1"):
            raise RuntimeError(f"{self.server.place.port} did not follow {other.server.place.port}: " + str(
                self.run(f"SHOW {self.replica} STATUS")))


def main(mode: str, source_url: str, other_url: str, replica_url: str, folder: str) -> None:
    """Record a case."""
    source, other, replica = members = [Member(url) for url in (source_url, other_url, replica_url)]
    for member in members:
        member.clear()
    source.follow(other)
    other.follow(source)
    for member in (source, other):
        member.run(f"START {member.replica}")
        member.run("SET sql_log_bin = 1")
    groups: list[tuple[str, bool]] = []
    for where, statements, left_out in steps(source.server.flavour, [COMPRESSED[source.server.flavour]]):
        before = source.executed
        doing, follower = (other, source) if where == OTHER else (source, other)
        for statement in statements:
            (doing.beside if where == BESIDE else doing.run)(statement)
        follower.wait(doing)
        if source.is_mysql and source.has_gtids:
            gtid = source.run(f"SELECT GTID_SUBTRACT('{source.executed}', '{before}')")[0][0]
        else:
            gtid = source.executed
        if gtid != before and gtid:
            groups.append((gtid, left_out is not None))
    about: dict[str, object] = {"server": source.server.flavour}
    if mode == "servers":
        number = other.run("SELECT @@server_id")[0][0]
        about["ignore_server_ids"] = [int(number)]
        replica.follow(source, f", IGNORE_SERVER_IDS=({number})")
        replica.run(f"START {replica.replica}")
        replica.wait(source)
    else:
        about["exclude_gtids"] = ",".join(gtid for gtid, left_out in groups if left_out)
        _pass_over(replica, source, groups)
    made = Path(folder)
    shutil.rmtree(made, ignore_errors=True)
    (made / "expected").mkdir(parents=True)
    about["position"] = "{}:{}".format(*source.place)
    about["gtids"] = replica.run("SELECT @@gtid_slave_pos")[0][0] if not source.is_mysql else replica.executed
    for name, text in replica.server.held().items():
        (made / "expected" / name).write_text(text)
    (made / "case.json").write_text(json.dumps(about, indent=1) + "\n")
    base = source.run("SELECT @@log_bin_basename")[0][0]
    for (log, *_) in source.run("SHOW BINARY LOGS"):
        shutil.copyfile(source.server.root + str(Path(base).with_name(log)), made / log)
    for member in members:
        member.run(f"STOP {member.replica}")
        member.run(f"RESET {member.replica} ALL")
    print(about)


def _pass_over(replica: Member, source: Member, groups: list[tuple[str, bool]]) -> None:
    """Let the replica execute all of the groups but those that are left out, as if it had executed these."""
    if replica.is_mysql:
        replica.run("SET sql_log_bin = 1")
        for gtid, left_out in groups:
            if left_out:
                for statement in (f"SET gtid_next = '{gtid}'", "BEGIN", "COMMIT", "SET gtid_next = AUTOMATIC"):
                    replica.run(statement)
        replica.follow(source)
        replica.run("START REPLICA")
        replica.wait(source)
        return
    replica.follow(source)
    last, done = "", ""
    for gtid, left_out in groups:
        if left_out:
            if last != done:
                replica.run(f"START SLAVE UNTIL master_gtid_pos = '{last}'")
                replica.run(f"SELECT MASTER_GTID_WAIT('{last}', 20)")
                while replica.run("SHOW STATUS LIKE 'Slave_running'")[0][1] == "ON":
                    time.sleep(0.05)
                replica.run("STOP SLAVE")
            replica.run(f"SET GLOBAL gtid_slave_pos = '{gtid}'")
            done = gtid
        last = gtid
    replica.run("START SLAVE")
    replica.wait(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
