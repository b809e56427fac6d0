"""Dumps of one database, which name it in a comment or not at all; of programs that people use; from stdin."""

import os
import subprocess
import sys

import pytest

import applier
from applier import cli
from tests.support.folders import ROOT

pytestmark = pytest.mark.slow

TABLE = """SET NAMES utf8mb4;
DROP TABLE IF EXISTS `t`;
CREATE TABLE `t` (`id` int NOT NULL, `v` varchar(20) DEFAULT NULL, PRIMARY KEY (`id`)) DEFAULT CHARSET=utf8mb4;
INSERT INTO `t` VALUES (1,'-- Database: `no`'),(2,NULL);
"""
OF_MYSQLDUMP = """-- MySQL dump 10.13  Distrib 9.7.0, for Linux (x86_64)
--
-- Host: localhost    Database: {}
-- ------------------------------------------------------
-- Server version\t9.7.4
"""
OF_PHPMYADMIN = """-- phpMyAdmin SQL Dump
-- Host: 127.0.0.1
-- Server version: 10.11.6-MariaDB

SET SQL_MODE = "NO_AUTO_VALUE_ON_ZERO";
START TRANSACTION;
SET time_zone = "+00:00";
/*!40101 SET NAMES utf8mb4 */;

--
-- Database: `{}`
--

CREATE TABLE `t` (
  `id` int(11) NOT NULL,
  `v` varchar(20) DEFAULT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;

INSERT INTO `t` (`id`, `v`) VALUES
(2, NULL),
(1, '-- Database: `no`');

ALTER TABLE `t`
  ADD PRIMARY KEY (`id`),
  ADD KEY `v` (`v`);

ALTER TABLE `t`
  MODIFY `id` int(11) NOT NULL AUTO_INCREMENT, AUTO_INCREMENT=3;
COMMIT;
"""
OF_HEIDISQL = """-- Host:                         127.0.0.1
-- Server version:               11.4.2-MariaDB - mariadb.org binary distribution
-- HeidiSQL Version:             12.6.0.6765

/*!50503 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;

CREATE DATABASE IF NOT EXISTS `{}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */;
USE `{}`;

CREATE TABLE IF NOT EXISTS `t` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `v` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4;

-- Dumping data for table t: ~2 rows (approximately)
DELETE FROM `t`;
INSERT INTO `t` (`id`, `v`) VALUES
\t(1, '-- Database: `no`'),
\t(2, NULL);

/*!40103 SET TIME_ZONE=IFNULL(@OLD_TIME_ZONE, 'system') */;
/*!40101 SET SQL_MODE=IFNULL(@OLD_SQL_MODE, '') */;
"""
ROWS = [{"id": 1, "v": "-- Database: `no`"}, {"id": 2, "v": None}]


def rows_of(uri, database):
    [table] = applier.Snapshot(uri).tables.values()
    assert (table.database, table.name) == (database, "t")
    return table.to_arrow().to_pylist()


@pytest.mark.parametrize("text, quote, flavour", [
    (OF_MYSQLDUMP + TABLE, "", "mysql"), (OF_PHPMYADMIN, "`", "mariadb"), (OF_HEIDISQL, "`", "mariadb")])
@pytest.mark.parametrize("database", ["shop", "the `shop`"])
def test_what_programs_write(text, quote, flavour, database, tmp_path):
    named = database.replace("`", "``") if quote else database
    (tmp_path / "dump.sql").write_text(text.replace("{}", named))
    snapshot = applier.import_dump(tmp_path / "dump.sql", tmp_path / "out").snapshot
    assert rows_of(tmp_path / "out", database) == ROWS and snapshot.position.flavour == flavour


@pytest.mark.parametrize("header, database", [
    ("", "mine"), (OF_MYSQLDUMP.format("shop"), "mine"), (OF_MYSQLDUMP.format("shop") + "USE other;\n", "other"),
    (OF_MYSQLDUMP.format(""), "mine")])
def test_the_database_that_is_given(header, database, tmp_path):
    """It wins over a comment, as it is what people say; USE is a statement."""
    (tmp_path / "dump.sql").write_text(header + TABLE)
    applier.import_dump(tmp_path / "dump.sql", tmp_path / "out", database="mine")
    assert rows_of(tmp_path / "out", database) == ROWS


@pytest.mark.parametrize("text", [TABLE, OF_MYSQLDUMP.format("") + TABLE, "INSERT INTO t VALUES (1);"])
def test_a_dump_without_a_database(text, tmp_path, capsys):
    (tmp_path / "dump.sql").write_text(text)
    assert cli.main(["import", str(tmp_path / "dump.sql"), "--output", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "no default database" in said and "name the database of the dump with --database" in said and "1046" in said


def test_a_delete_of_rows_that_the_dump_has(tmp_path):
    """It is not skipped."""
    (tmp_path / "dump.sql").write_text(OF_MYSQLDUMP.format("shop") + TABLE + "DELETE FROM t;")
    with pytest.raises(applier.SchemaError, match="changes rows in a way that cannot be imported"):
        applier.import_dump(tmp_path / "dump.sql", tmp_path / "out")


@pytest.mark.parametrize("times", [1, 60_000])
def test_stdin(times, tmp_path):
    """Also of more than what is looked at first."""
    rows = "".join(f"INSERT INTO `t` VALUES ({3 + row},'{'x' * 20}'),({-1 - row},'{'y' * 20}');\n"
                   for row in range(times))
    text = (OF_MYSQLDUMP.format("shop") + TABLE + rows).encode()
    done = subprocess.run([sys.executable, "-m", "applier", "import", "-", "--output", str(tmp_path / "out")],
                          input=text, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    found = rows_of(tmp_path / "out", "shop")
    assert len(found) == 2 + 2 * times and [row for row in found if row["id"] in (1, 2)] == ROWS
    assert len(text) > 4 << 20 or times == 1


def test_a_schema_file_of_one_database(tmp_path):
    """--schema takes the name from the same comment."""
    with applier.binlog.Writer(tmp_path / "binlog.000001", schema=None) as log:
        log.query("CREATE DATABASE other")
    (tmp_path / "schema.sql").write_text(OF_MYSQLDUMP.format("shop") + TABLE)
    snapshot = applier.replay(tmp_path / "binlog.000001", tmp_path / "out", schema=tmp_path / "schema.sql").snapshot
    assert list(snapshot.tables) == ["shop.t"]
