"""GRP-7 on MariaDB: a base continues in the log of another server as a replica would, by domain, server and number."""

import pytest

from applier.engine.executor import ThisProcess
from applier.errors import ArchiveError, UsageError
from applier.jobs.replay.job import replay_with
from applier.options import ReplayOptions
from tests.support.mariadb_histories import groups_in, position_of, row_of, write_history


def run(tmp_path, name, logs, **options):
    result = replay_with(ThisProcess(), ReplayOptions((str(tmp_path / logs),), str(tmp_path / name), **options))
    return result, groups_in(tmp_path / name)


def in_key_order(groups):
    return sorted(groups, key=row_of)


HISTORIES = {
    "back and forth": ["0-1-2 0-1-3 0-2-4", "0-2-5 0-1-6", "0-2-7 0-1-8"],
    "numbers go down": ["0-1-100 0-1-101", "0-2-50 0-2-51 0-1-102", "0-1-103"],
    "holes": ["0-1-5 0-1-9", "0-2-12 0-2-20", "0-1-33"],
    "two domains": ["0-1-2 1-1-1 0-2-3", "1-2-2 0-1-4", "1-1-3 0-1-5"],
}


@pytest.mark.parametrize("n_purged", [0, 1])
@pytest.mark.parametrize("name", HISTORIES)
def test_every_group_of_a_history_is_a_place_to_go_on(name, n_purged, tmp_path):
    """The old source's files are the new one's with other borders. Where the new one has purged what the base lacks,
    nothing is skipped."""
    groups = [gtid for file in HISTORIES[name] for gtid in file.split()]
    old = write_history(tmp_path / "old", [" ".join(groups)])
    write_history(tmp_path / "new", HISTORIES[name], purged=n_purged)
    n_gone = len(HISTORIES[name][0].split()) if n_purged else 0
    for number, gtid in enumerate(groups):
        base = str(tmp_path / f"base{number}")
        run(tmp_path, f"base{number}", "old", stop_position=old[gtid])
        if number + 1 < n_gone:
            with pytest.raises(ArchiveError, match="precede binlog"):
                run(tmp_path, f"next{number}", "new", base=base)
        else:
            _, found = run(tmp_path, f"next{number}", "new", base=base)
            assert found == in_key_order(groups)
    assert position_of(tmp_path / f"next{len(groups) - 1}") == position_of(base)


@pytest.mark.parametrize("name", HISTORIES)
def test_a_stop_is_at_its_group(name, tmp_path):
    """--stop-gtid names a group by domain, server and number, from the beginning and from any base."""
    groups = [gtid for file in HISTORIES[name] for gtid in file.split()]
    ends = write_history(tmp_path / "logs", HISTORIES[name])
    for number, gtid in enumerate(groups):
        _, found = run(tmp_path, f"to{number}", "logs", stop_gtid=gtid)
        assert found == in_key_order(groups[:number + 1])
        run(tmp_path, f"base{number}", "logs", stop_position=ends[gtid])
        for later in range(number + 1, len(groups)):
            _, found = run(tmp_path, f"from{number}to{later}", "logs", base=str(tmp_path / f"base{number}"),
                           stop_gtid=groups[later])
            assert found == in_key_order(groups[:later + 1])


@pytest.mark.parametrize("new", ["0-1-2 0-1-3 0-2-4 0-2-5", "0-1-2 0-1-3 0-2-4 0-2-5 0-2-6 0-1-7", "0-1-2 0-1-3",
                                 "0-2-2 0-2-3 0-2-4 0-2-5"])
def test_a_base_that_the_new_source_never_had(new, tmp_path):
    """1236: the old source wrote 0-1-4 and was lost, the new one wrote its own groups from there on."""
    write_history(tmp_path / "old", ["0-1-2 0-1-3 0-1-4"])
    write_history(tmp_path / "new", [new])
    run(tmp_path, "base", "old")
    with pytest.raises(ArchiveError, match="0-1-4") as caught:
        run(tmp_path, "next", "new", base=str(tmp_path / "base"))
    assert caught.value.mysql_errno == 1236 and not (tmp_path / "next").exists()


def test_a_later_group_of_the_lost_server_does_not_hide_the_loss(tmp_path):
    """The old source came back as a replica and was promoted again; its 0-1-4 is gone for good."""
    write_history(tmp_path / "old", ["0-1-2 0-1-3 0-1-4"])
    run(tmp_path, "base", "old")
    write_history(tmp_path / "new", ["0-1-2 0-1-3 0-2-4", "0-2-5", "0-1-6 0-1-7", "0-1-8"])
    with pytest.raises(ArchiveError, match="0-1-4 of the base snapshot is not in these logs"):
        run(tmp_path, "next", "new", base=str(tmp_path / "base"))


def test_a_domain_that_the_new_source_does_not_serve(tmp_path):
    """A source that has nothing of a domain sends the others; the base's place in that one stays."""
    write_history(tmp_path / "old", ["0-1-2 1-1-1 0-1-3 1-1-2"])
    write_history(tmp_path / "new", ["0-1-2 0-1-3 0-2-4", "0-2-5"])
    run(tmp_path, "base", "old")
    _, found = run(tmp_path, "next", "new", base=str(tmp_path / "base"))
    assert found == in_key_order(["0-1-2", "1-1-1", "0-1-3", "1-1-2", "0-2-4", "0-2-5"])
    assert position_of(tmp_path / "next") == "0-2-5,1-1-2"
    write_history(tmp_path / "none", ["0-1-2 1-1-1"])
    with pytest.raises(ArchiveError, match="do not contain 0-1-3,1-1-2"):
        run(tmp_path, "nothing", "none", base=str(tmp_path / "base"))


def test_a_later_group_of_the_same_server_tells_where_a_missing_one_was(tmp_path):
    """As MariaDB's START SLAVE UNTIL, and its source for a replica with gtid_strict_mode=OFF: 0-1-4 was filtered."""
    write_history(tmp_path / "logs", ["0-1-2 0-1-3 0-1-5", "0-1-6"])
    _, found = run(tmp_path, "stopped", "logs", stop_gtid="0-1-4")
    assert found == ["0-1-2", "0-1-3"]
    write_history(tmp_path / "old", ["0-1-2 0-1-3 0-1-4"])
    run(tmp_path, "base", "old")
    _, found = run(tmp_path, "next", "logs", base=str(tmp_path / "base"))
    assert found == ["0-1-2", "0-1-3", "0-1-4", "0-1-5", "0-1-6"]


def test_a_stop_of_another_server_is_not_reached(tmp_path):
    write_history(tmp_path / "logs", ["0-1-2 0-1-3 0-2-4", "0-2-5"])
    with pytest.raises(UsageError, match="without transactions 0-1-4"):
        run(tmp_path, "out", "logs", stop_gtid="0-1-4")


def test_a_file_of_a_diverged_server_does_not_continue_another(tmp_path):
    """The second file was copied from a server that never had 0-1-4."""
    write_history(tmp_path / "logs", ["0-1-2 0-1-3 0-1-4", "0-1-5"])
    write_history(tmp_path / "other", ["0-1-2 0-1-3 0-2-4", "0-2-5"])
    (tmp_path / "other" / "binlog.000002").rename(tmp_path / "logs" / "binlog.000002")
    with pytest.raises(ArchiveError, match="0-2-4 are missing"):
        run(tmp_path, "out", "logs")


def test_a_start_position_passes_over_what_the_base_has(tmp_path):
    """--start-position with a base of the old source: its place in each domain is a group, not a number."""
    old = write_history(tmp_path / "old", ["0-1-100 0-1-101 0-2-50 0-2-51 0-1-102"])
    write_history(tmp_path / "new", ["0-1-100 0-1-101 0-2-50", "0-2-51 0-1-102"])
    run(tmp_path, "base", "old", stop_position=old["0-2-50"])
    _, found = run(tmp_path, "next", "new", base=str(tmp_path / "base"), start_position=("binlog.000001", 4))
    assert found == ["0-1-100", "0-1-101", "0-1-102", "0-2-50", "0-2-51"]
