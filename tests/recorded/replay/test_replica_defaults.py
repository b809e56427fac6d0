"""Defaults that a replica makes of the event's time, or of other columns: as real servers' replicas stored them.

Rules: DEF-R1a, DEF-R1b, DEF-R2, AP-VAL.
"""

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import SchemaError
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from tests.support.real_server import Case, differences


def replayed(case, target, folder, route):
    """Tables of `target` as a base, with the case's log replayed on them; where the snapshot is."""
    base, output = str(folder / "base"), folder / "out"
    import_dump(ImportOptions(str(target), base, flavour=case.server))
    result = replay_with(ThisProcess(2), ReplayOptions(tuple(map(str, case.binlogs)), str(output), base=base,
                                                       route=route))
    return output, result


@pytest.mark.parametrize("route", ["walk", "shuffle"])
@pytest.mark.parametrize("name", ["target-defaults-time", "mariadb-target-defaults-time"])
def test_defaults_are_what_the_replica_stored(name, route, tmp_path):
    """The second of the event on MySQL, of the one within a compressed transaction; nothing but constants on MariaDB,
    unless it is for a NULL. ON UPDATE does nothing."""
    case = Case(name)
    output, result = replayed(case, case.folder / "target.sql", tmp_path, route)
    assert differences(output, case.expected()) == []
    assert any("CURRENT_TIMESTAMP being the event's time in UTC" in note for note in result.notes)


@pytest.mark.parametrize("default", [
    "e21 CHAR(36) DEFAULT (uuid())", "e21 INT DEFAULT (length(aes_encrypt('a', 'k')))",
    "e21 DOUBLE DEFAULT (rand())", "e21 DATETIME DEFAULT (sysdate())",
])
def test_what_cannot_be_computed_stops_the_replay(default, tmp_path):
    case, target = Case("target-defaults-time"), tmp_path / "target.sql"
    target.write_text((case.folder / "target.sql").read_text().replace("e20 BIGINT", f"{default}, e20 BIGINT"))
    with pytest.raises(SchemaError, match=r"column e21.* cannot be computed") as stopped:
        replayed(case, target, tmp_path, "walk")
    assert (stopped.value.table, "--ignore-tables" in stopped.value.hint) == ("df.more", True)


def test_a_null_is_not_replaced_by_what_depends_on_the_row(tmp_path):
    """A replica evaluates such a default on the row as far as it is there."""
    case, target = Case("target-defaults-time"), tmp_path / "target.sql"
    target.write_text((case.folder / "target.sql").read_text().replace("DEFAULT (1+1)", "DEFAULT (b+1)"))
    with pytest.raises(SchemaError, match="column i is NULL in the log and NOT NULL in the table"):
        replayed(case, target, tmp_path, "walk")
