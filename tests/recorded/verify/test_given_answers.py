"""What people give to `applier verify` about a server, right and wrong, and what they are told."""

import json
import socket
import sys
from datetime import UTC, datetime

import pytest

import applier
from applier import cli
from applier.jobs.verify.live import is_at
from applier.jobs.verify.rows import FEED, keys_of, with_last_changes
from applier.jobs.verify.server import ServerPosition
from applier.mysql.client_sql import HEAD
from applier.snapshot.manifest import BinlogPosition
from tests.recorded.verify.answers import answers
from tests.support.real_server import Case, replayed

CASE = Case("generated-columns-mysql")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A snapshot, and the files sums.tsv and rows.tsv."""
    folder = tmp_path_factory.mktemp("made")
    replayed(CASE, folder / "snapshot")
    found = answers()[CASE.name]
    (folder / "sums.tsv").write_text(found["crc32"])
    (folder / "rows.tsv").write_text(found["rows"])
    return folder


def _verify(made, text: str, tmp_path, *more: str) -> int:
    (tmp_path / "answer.tsv").write_text(text)
    return cli.main(["verify", str(made / "snapshot"), "--against", str(tmp_path / "answer.tsv"), *more])


def test_what_is_printed_is_what_is_answered(made, capsys):
    """--sql prints one statement a line, behind what makes clients safe: any takes it from a file or a pipe."""
    assert cli.main(["verify", str(made / "snapshot"), "--sql"]) == 0
    *head, lines = capsys.readouterr().out.partition(HEAD)
    assert head == ["", HEAD]
    lines = lines.splitlines()
    assert lines[0] == "SET NAMES utf8mb4;" and lines[-1] == "COMMIT;" and all(line.endswith(";") for line in lines)


@pytest.mark.parametrize("change, says", [
    (lambda text: text[:text.index("\tend")], "is truncated"),
    (lambda text: text.replace("applier-", "applier-0"), "a different set of statements"),
    (lambda text: "| 1 |\n", "the file contains no answer of a server"),
    (lambda text: text.replace("\tsums\t", "\tsums\tx"), "is malformed"),
    (lambda text: "\n".join(line.rpartition("\t")[0] if "\tsums\t" in line else line for line in text.split("\n")),
     "is malformed"),
], ids=["cut", "other statements", "not a row a line", "another table", "a sum is missing"])
def test_an_answer_that_is_none_is_told(change, says, made, tmp_path, capsys):
    """Exit code 2, and never "the same"."""
    assert _verify(made, change((made / "sums.tsv").read_text()), tmp_path) == 2
    told = capsys.readouterr()
    assert says in told.err and "answer.tsv" in told.err and "the same" not in told.out


def test_an_answer_with_line_ends_of_windows_and_without_names_of_columns(made, tmp_path, capsys):
    text = "".join(line + "\r\n" for line in (made / "sums.tsv").read_text().split("\n") if "applier\t" not in line)
    assert _verify(made, text, tmp_path) == 0
    assert "the same" in capsys.readouterr().out


def test_a_server_that_stands_elsewhere_is_reported(made, tmp_path, capsys):
    """The answers are of a server that took the same rows by other transactions."""
    text = (made / "sums.tsv").read_text()
    theirs = next(line.split("\t")[2] for line in text.split("\n") if line.split("\t")[1:2] == ["position"])
    ours = str(applier.verify(made / "snapshot", made / "sums.tsv").position)
    for server, says in ((theirs, True), (ours, False)):
        assert _verify(made, text.replace(theirs, server), tmp_path) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert (f"the server stands at {server}, the snapshot at {ours}" in said) == says


def _with_another_sum(text: str) -> str:
    """The last column's sum of the first range is another one."""
    first = next(line for line in text.split("\n") if "\tsums\t" in line and "row_count" not in line)
    start, _, number = first.rpartition("\t")
    return text.replace(first, f"{start}\t{int(number) + 1}", 1)


def test_what_differs_is_printed_and_the_rows_can_be_asked_for(made, tmp_path, capsys):
    """Exit code 1; the statements for the rows name the ranges that differ, and no others."""
    text = _with_another_sum((made / "sums.tsv").read_text())
    assert _verify(made, text, tmp_path) == 1
    told = capsys.readouterr()
    assert "all rows" in told.out and "are not the same on the server" in told.err and "--sql" in told.err
    assert _verify(made, text, tmp_path, "--json") == 1
    found = json.loads(capsys.readouterr().out)
    [table] = found["different"]
    assert not found["same"] and [part["condition"] for part in table["ranges"]] == [""] and table["rows"] == []
    assert _verify(made, text, tmp_path, "--sql") == 0
    statements = [line for line in capsys.readouterr().out.splitlines() if " AS row_key" in line]
    assert len(statements) == 1


def test_rows_that_the_server_lacks_or_has_besides(made, tmp_path, capsys):
    """A line without its row, and one whose key nobody has."""
    sums, rows = _with_another_sum((made / "sums.tsv").read_text()), (made / "rows.tsv").read_text().split("\n")
    lines = [number for number, line in enumerate(rows) if "\trow\tgc/g\t" in line]
    gone, other = rows[lines[0]].split("\t"), rows[lines[1]].split("\t")
    (tmp_path / "rows.tsv").write_text("\n".join(
        "\t".join([*other[:4], "393939", *other[5:]]) if number == lines[0] else line
        for number, line in enumerate(rows)))
    assert _verify(made, sums, tmp_path, "--against", str(tmp_path / "rows.tsv")) == 1
    out = capsys.readouterr().out
    assert f"- id={bytes.fromhex(gone[4]).decode()}," in out and "the server lacks it" in out
    assert "+ id=999  only the server has it" in out
    assert _verify(made, sums, tmp_path, "--against", str(tmp_path / "rows.tsv"), "--json") == 1
    [table] = json.loads(capsys.readouterr().out)["different"]
    here, there = sorted(table["rows"], key=lambda row: row["kind"])
    assert (here["kind"], here["key"], here["there"]) == ("here", {"id": bytes.fromhex(gone[4]).decode()}, None)
    assert (there["kind"], there["key"], there["here"]) == ("there", {"id": "999"}, None) and here["here"]["id"]


def test_a_row_has_the_last_transaction_that_changed_it(made, tmp_path):
    """Of the changes in the log, the last one with the row's key. All rows differ from a server that has none."""
    (tmp_path / "none.tsv").write_text("\n".join(
        "\t".join([*line.split("\t")[:4], "0", *["NULL"] * (len(line.split("\t")) - 5)])
        if "\tsums\t" in line else line for line in (made / "sums.tsv").read_text().split("\n")))
    table = applier.verify(made / "snapshot", tmp_path / "none.tsv").by_table["gc.g"]
    feed = applier.changes([str(path) for path in CASE.binlogs], "gc.g").to_arrow()
    keyed = with_last_changes(table, feed.select(["id", *FEED]))
    last = {row["id"]: row for row in feed.select(["id", *FEED]).to_pylist() if row["id"] is not None}
    assert keyed.rows and {key: (row.last_change.gtid, row.last_change.position) for (key,), row in
                           zip(keys_of(keyed), keyed.rows, strict=True)} == \
        {key: (last[key]["_gtid"], last[key]["_pos"]) for (key,) in keys_of(keyed)}


@pytest.mark.parametrize("url", ["mysql://a:secret@h", "http://h", "mysql://h:port", "mysql://h/db", "h:3306"])
def test_an_address_that_is_none_is_not_repeated(url, made, capsys):
    """There may be a password in it."""
    assert cli.main(["verify", str(made / "snapshot"), "--server", url]) == 2
    told = capsys.readouterr()
    assert "secret" not in told.err + told.out and "h:port" not in told.err and "server" in told.err


def test_a_server_that_is_not_there(made, monkeypatch, capsys):
    """The password of the environment is not in what is said."""
    monkeypatch.setenv("MYSQL_PWD", "secret")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert cli.main(["verify", str(made / "snapshot"), "--server", f"mysql://me@127.0.0.1:{port}"]) == 2
    told = capsys.readouterr()
    assert f"127.0.0.1:{port} cannot be reached" in told.err and "secret" not in told.err


def test_without_pymysql(made, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "pymysql", None)
    assert cli.main(["verify", str(made / "snapshot"), "--server", "mysql://h"]) == 2
    assert "pip install 'mysql-binlog-applier[server]'" in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--server", "mysql://h", "--against", "x"], ["--binlogs", "x"],
                                     ["--hash", "sha2"], ["--tables", "a.b"]])
def test_options_that_mean_nothing_together(options, made):
    assert cli.main(["verify", str(made / "snapshot"), *options]) == 2


def test_where_a_snapshot_and_a_server_stand():
    """By GTIDs, in whatever order they are written, where both have them; else by the file and offset of the log."""
    position = BinlogPosition("binlog.000002", 500, "0-1-5,1-1-7", int(datetime.now(UTC).timestamp()), "mariadb")
    assert is_at(position, ServerPosition("1-1-7,0-1-5", "other.000009", 4))
    assert not is_at(position, ServerPosition("1-1-8,0-1-5", "binlog.000002", 500))
    assert is_at(position, ServerPosition("", "binlog.000002", 500))
    assert not is_at(position, ServerPosition("", "binlog.000002", 501))
