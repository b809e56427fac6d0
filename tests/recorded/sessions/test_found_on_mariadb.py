"""Sessions that random histories once showed wrong or refused, of MariaDB."""

import pytest

import applier
from tests.recorded.sessions.replayed import check, each_of, log_of, recorded

CASES = recorded("mariadb")


@each_of(CASES)
def test_a_snapshot_is_what_the_server_held(session, version, route, tmp_path):
    check(CASES[session, version], route, tmp_path)


def test_a_feed_computes_generated_columns_in_the_servers_zone(tmp_path):
    """Changes with whole rows, versions of rows and a rewritten archive have what a replica computes, too."""
    [case] = [case for case in CASES.values() if case["name"] == "zone-of-generated-columns-on-a-replica"]
    log = log_of(case, tmp_path)
    with pytest.raises(applier.SchemaError, match="--system-time-zone can"):
        applier.changes(log, "d.b", complete=True).to_arrow()
    made = applier.changes(log, "d.b", complete=True, system_time_zone="UTC").to_arrow().to_pylist()
    versions = applier.history(log, "d.b", system_time_zone="UTC").to_arrow().to_pylist()
    held = {row[0]: row[4] for row in case["tables"]["d.b"][1]}
    assert {row["id"]: row["h"] for row in made} == held
    assert {row["id"]: row["h"] for row in versions if row["_valid_to"] is None} == held
    rewritten = applier.rewrite(log, tmp_path / "whole", image="full", system_time_zone="UTC")
    assert rewritten.proof.tables == len(case["tables"])
