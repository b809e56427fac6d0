"""What the services of clouds write into a log for themselves concerns no snapshot: it is in the server's databases."""

import pytest

import applier
from tests.support.small_logs import commit, held, insert, new_log

STATEMENTS = [
    # RDS and Aurora, as text every five minutes: binlog_format does not hold for them
    "INSERT INTO mysql.rds_heartbeat2(id, value) values (1,1774000000000) ON DUPLICATE KEY UPDATE value = 1774",
    "CREATE TABLE IF NOT EXISTS mysql.rds_history(action_timestamp timestamp, called_by_user varchar(352)) ENGINE=CSV",
    "DELETE FROM mysql.rds_sysinfo where name = 'innodb_txn_key'",
    "INSERT INTO mysql.rds_replication_status (called_by_user, action, mysql_version) VALUES ('a', 'start', '8.0')",
    # Cloud SQL
    "REPLACE INTO mysql.heartbeat (id, master_time) VALUES (1, UTC_TIMESTAMP(6))",
    "GRANT RELOAD ON *.* TO 'rdsadmin'@'localhost'",
]


@pytest.mark.parametrize("database", ["mysql", "", "shop"])
def test_tables_of_services_are_passed_over(database, tmp_path):
    with new_log(tmp_path) as log:
        for number, statement in enumerate(STATEMENTS):
            log.query(statement, database)
            commit(log, insert([(number, 1, "a")]))
            with log.transaction():
                log.query(statement, database)
    made = applier.replay(tmp_path, tmp_path / "out")
    assert held(tmp_path / "out") == [(number, 1, "a") for number in range(len(STATEMENTS))]
    assert set(made.snapshot.tables) == {"shop.item"}
