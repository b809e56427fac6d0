"""GRP-6: what `show` and `changes` leave out by GTID and by server, of the logs of rings of two servers."""

import json

import pytest

import applier
from applier import cli
from tests.recorded.left_out.test_left_out import CASES, arguments

NO_SERVER = "4294967295"


def shown(folder, capfdbinary, *options):
    """The events of all files, as objects, after the format description of each."""
    files = sorted(map(str, folder.glob("binlog.0*")))
    assert cli.main(["show", *files, "--format", "json", *options]) == 0
    return [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", CASES)
def test_show_has_the_groups_of_some_servers(name, capfdbinary):
    """By the server id in each event; the one option shows what the other leaves out."""
    folder, _, _ = arguments(name)
    whole = shown(folder, capfdbinary, "--ignore-server-ids", NO_SERVER)
    placed = list(with_servers(whole))
    servers = {server for _, server, event in placed if event["pos"] != 4}
    assert len(servers) == 2
    for server in servers:
        of_one = shown(folder, capfdbinary, "--server-id", str(server))
        others = shown(folder, capfdbinary, "--ignore-server-ids", str(server))
        assert of_one == [event for _, known, event in placed if event["pos"] == 4 or known == server]
        assert others == [event for _, known, event in placed if event["pos"] == 4 or known != server]
    assert shown(folder, capfdbinary, "--server-id", ",".join(map(str, sorted(servers)))) == whole
    assert not any(event["pos"] != 4 for event in shown(folder, capfdbinary, "--server-id", NO_SERVER))


def with_servers(events):
    """Each event with its file's name and its server; row changes have that of the event before them."""
    number = server = 0
    for event in events:
        number += event["pos"] == 4
        server = event.get("server_id", server)
        yield f"binlog.{number:06}", server, event


@pytest.mark.parametrize("complete", [False, True], ids=["images", "complete"])
@pytest.mark.parametrize("name", CASES)
def test_changes_leave_out_transactions_and_servers(name, complete, capfdbinary, tmp_path):
    """What is left are the same changes as without the option: complete ones, too, are of what the log did."""
    folder, _, case = arguments(name)
    chosen = {option: case[option] for option in ("exclude_gtids", "ignore_server_ids") if option in case}
    servers = {(file, event["pos"]): server for file, server, event in with_servers(shown(folder, capfdbinary))}

    def feed(table, **options):
        return applier.changes(str(folder), table, complete=complete, ignore_foreign_keys=not complete,
                               **options).to_arrow().to_pylist()

    def is_left_out(row):
        return servers[row["_file"], row["_pos"]] in chosen.get("ignore_server_ids", ()) or (
            row["_gtid"] in chosen.get("exclude_gtids", "").split(","))

    left_out = 0
    for table in sorted(applier.replay(str(folder), tmp_path / "all", exec_mode="idempotent").snapshot.tables):
        everything = feed(table)
        assert feed(table, **chosen) == [row for row in everything if not is_left_out(row)]
        left_out += sum(map(is_left_out, everything))
        if "ignore_server_ids" in chosen:
            assert feed(table, server_ids=chosen["ignore_server_ids"]) == list(filter(is_left_out, everything))
    assert left_out
