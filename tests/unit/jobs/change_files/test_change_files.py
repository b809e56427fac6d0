"""`applier changes`: files and stdout, JSON lines, Debezium's envelope."""

import base64
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import applier
from applier import cli
from applier.jobs.change_files import dividing, tables
from applier.jobs.json_lines.steps import Steps
from applier.schema.ddl.ddl import parse_statement
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.recorded.archives.demo_digest import ARCHIVE

pytestmark = pytest.mark.slow


class Log:
    """A log of tables in d."""

    def __init__(self, folder, flavour="mysql"):
        self.path = folder / "binlog.000001"
        self.log = BinlogWriter(self.path, flavour=flavour)
        self.log.query("CREATE DATABASE d")

    def create(self, sql):
        self.log.query(sql, "d")
        return parse_statement(sql, default_database="d", flavour=self.log.flavour)[0].definition

    def group(self, *changes):
        with self.log.transaction():
            for change in changes:
                self.log.rows(change)

    def close(self):
        self.log.close()
        return str(self.path)


def run(capfdbinary, *argv):
    assert cli.main(["changes", *map(str, argv)]) == 0
    return capfdbinary.readouterr()


def lines(capfdbinary, *argv):
    return [json.loads(line, parse_float=Decimal) for line in run(capfdbinary, *argv).out.splitlines()]


def ints(*values):
    return pa.array(values, pa.int32())


def test_stdout_has_the_changes_of_all_tables_in_the_order_of_the_log(capfdbinary):
    found = lines(capfdbinary, "--binlogs", ARCHIVE)
    assert len(found) == 16801 and len({line["table"] for line in found}) == 6
    places = [(line["file"], line["pos"], line["row"]) for line in found]
    assert places == sorted(places) and len(set(places)) == len(places)
    numbers = [(line["commit_version"], line["seq"]) for line in found]
    assert numbers == sorted(numbers) and len(set(numbers)) == len(numbers)
    orders = [line for line in found if line["table"] == "shop.orders"]
    assert orders == lines(capfdbinary, "--binlogs", ARCHIVE, "--table", "shop.orders")
    assert orders[0] == {
        "table": "shop.orders", "op": "insert", "ts": orders[0]["ts"],
        "gtid": "20810cc3-e548-11f1-a5e4-02fc00000001:14", "server_id": 23421, "thread_id": 10,
        "commit_version": orders[0]["commit_version"],
        "seq": orders[0]["seq"], "file": "binlog.000001", "pos": 115895, "row": 0,
        "cascaded": False, "key": {"id": 1}, "before": None, "after": orders[0]["after"]}


@pytest.mark.parametrize(("format", "ending"), [("json", "jsonl"), ("csv", "csv"), ("parquet", "parquet"),
                                                ("arrow", "arrows")])
def test_a_directory_has_a_file_for_each_table(tmp_path, capfdbinary, format, ending):
    shown = run(capfdbinary, "--binlogs", ARCHIVE, "--format", format, "--output", tmp_path / "out", "--tables",
                "shop.orders,shop.stock")
    assert b"2 tables" in shown.out
    listing = json.loads((tmp_path / "out" / "_changes.json").read_text())
    assert [(table["table"], table["key"]) for table in listing["tables"]] == [
        ("shop.orders", ["id"]), ("shop.stock", ["sku", "warehouse"])]
    for table in listing["tables"]:
        file = tmp_path / "out" / table["file"]
        assert file.name == f"changes.{ending}"
        feed = applier.changes(ARCHIVE, table["table"]).to_arrow()
        if format == "json":
            rows = len(file.read_bytes().splitlines())
            assert rows == sum(kind != "update_postimage" for kind in feed["_change_type"].to_pylist())
        else:
            read = {"csv": csv.read_csv, "parquet": pq.read_table,
                    "arrow": lambda path: pa.ipc.open_stream(path).read_all()}[format](str(file))
            rows = len(read)
            assert read.column_names == feed.column_names and rows == len(feed)
            assert read["_pos"].to_pylist() == feed["_pos"].to_pylist()
            if format != "csv":
                for name in feed.column_names:
                    assert read[name].to_pylist() == feed[name].to_pylist()
        assert rows == table["rows"]


def test_only_some_columns_of_a_part_of_the_log(capfdbinary):
    found = lines(capfdbinary, "--binlogs", ARCHIVE, "--table", "shop.orders", "--columns", "status", "--stop-gtid",
                  "20810cc3-e548-11f1-a5e4-02fc00000001:1-14")
    assert [(line["key"], line["after"]) for line in found] == [(None, {"status": "new"})]


def test_a_directory_is_complete_or_not_there(tmp_path, capfdbinary):
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY)")
    log.group(RowChanges(table, after={"id": ints(1)}))
    log.log.query("ALTER TABLE t ADD COLUMN v INT, ALGORITHM=INPLACE", "d")
    path = log.close()
    out = tmp_path / "out"
    data = bytearray(log.path.read_bytes())
    data[-30] ^= 1
    log.path.write_bytes(data)
    assert cli.main(["changes", "--binlogs", path, "--output", str(out)]) == 2
    assert not out.exists() and sorted(os.listdir(tmp_path)) == ["binlog.000001"]


def test_several_tables_need_files(tmp_path, capfdbinary):
    assert cli.main(["changes", "--binlogs", str(ARCHIVE), "--format", "csv"]) == 2
    assert b"6 tables have changes, but a csv file holds only one table" in capfdbinary.readouterr().err


def test_a_table_without_changes_is_noted(tmp_path, capfdbinary):
    shown = run(capfdbinary, "--binlogs", ARCHIVE, "--table", "shop.nothing")
    assert shown.out == b"" and b"--tables shop.nothing: no change is of such a table" in shown.err


def test_transactions_that_are_not_there_are_noted(tmp_path, capfdbinary):
    """Behind the changes on stdout, too."""
    other = "11111111-1111-1111-1111-111111111111:5"
    for output in ([], ["--output", tmp_path / "out"]):
        shown = run(capfdbinary, "--binlogs", ARCHIVE, "--table", "shop.products", "--exclude-gtids", other, *output)
        assert b"1 of the transactions of --exclude-gtids are not in these binlogs" in shown.err
    assert cli.main(["changes", "--binlogs", str(ARCHIVE), "--gtids", other]) == 2
    assert b"these binlogs contain none of the transactions" in capfdbinary.readouterr().err


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("format", ["json", "csv", "arrow", "parquet"])
def test_who_closes_the_pipe_ends_it_quietly(format):
    program = f"{sys.executable} -m applier changes --binlogs {ARCHIVE} --table shop.orders --format {format}"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {program} | head -c 9"], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr, len(done.stdout)) == (0, b"", 9)


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("format", ["json", "debezium", "csv", "parquet", "arrow"])
def test_the_statement_of_many_rows_is_asked_for_and_written_in_parts(tmp_path, capfdbinary, monkeypatch, format):
    """Lines have it as often as rows do: what they take at once is bounded. Parquet and Arrow have it once."""
    log, n = Log(tmp_path, "mariadb"), 200
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    statement = f"UPDATE t SET v = v + 1 /* {'x' * 100_000} */"
    with log.log.transaction():
        log.log.event(160, statement.encode())  # ANNOTATE_ROWS
        log.log.rows(RowChanges(table, before={"id": ints(*range(n)), "v": ints(*[1] * n)},
                                after={"id": ints(*range(n)), "v": ints(*[2] * n)}))
    path, sizes = log.close(), []
    monkeypatch.setattr(dividing, "MOST_BYTES", 1 << 20)
    write = Steps.write
    monkeypatch.setattr(Steps, "write", lambda *args: sizes.append(len((made := write(*args))[0])) or made)
    times = tables.datetime_texts  # of the rows that become texts together
    monkeypatch.setattr(tables, "datetime_texts", lambda values, unit: sizes.append(
        len(values) * len(statement)) or times(values, unit))
    argv = "--binlogs", path, "--table", "d.t", "--format", format, "--output"
    run(capfdbinary, *argv, tmp_path / "without")
    [without] = tmp_path.glob("without/d/t/changes.*")
    assert b"x" * 1000 not in without.read_bytes()
    sizes.clear()
    run(capfdbinary, *argv, tmp_path / "with", "--statements")
    [file] = tmp_path.glob("with/d/t/changes.*")
    if format in ("json", "debezium"):
        found = [json.loads(line) for line in file.read_bytes().splitlines()]
        assert [line["after"]["id"] for line in found] == [*range(n)]
        assert {line["statement"] if format == "json" else line["source"]["query"] for line in found} == {statement}
        assert max(sizes) < 1 << 20
        return
    read = {"csv": csv.read_csv, "parquet": pq.read_table,
            "arrow": lambda path: pa.ipc.open_stream(path).read_all()}[format](str(file))
    assert read["_statement"].to_pylist() == [statement] * 2 * n
    assert read["id"].to_pylist() == [id for id in range(n) for _ in range(2)]
    assert max(sizes) < 1 << 20 if format == "csv" else file.stat().st_size < 1 << 20


TEXTS = ["", "plain", 'a "quoted" \\ text', "tab\tline\nreturn\r", "\x00\x01\x1f\x7f", "żółć 🐍", "x" * 1000 + '"',
         "1234567\n", "12345678\"", None, "'", "</script>"]


def test_any_text_is_one_line(tmp_path, capfdbinary):
    """Escapes where JSON needs them (RFC 8259, 7), wherever in a word of eight bytes."""
    log = Log(tmp_path)
    table = log.create("CREATE TABLE `a \"b\"` (id INT PRIMARY KEY, `n \"\\ \n` TEXT CHARACTER SET utf8mb4)")
    encoded = [text and text.encode() for text in TEXTS]
    encoded[0] = b""
    log.group(RowChanges(table, after={"id": ints(*range(len(TEXTS))), 'n "\\ \n': pa.array(encoded)}))
    found = lines(capfdbinary, "--binlogs", log.close())
    assert [line["after"]['n "\\ \n'] for line in found] == TEXTS
    assert {line["table"] for line in found} == {'d.a "b"'}


DOCUMENTS = ['{"a": 1}', " [1, 2.5e-3,\n-0]\r\n", '"text"', "null", "true", '{"a":{"b":[{},[],"\\u00e9\\n"]}}', "1.50"]
NO_DOCUMENTS = ["", "{", '{"a" 1}', "[1,]", "01", "1.", "nul", '"\n"', '"\\x"', "1 2", "{} []", '{"a":1,}', "-", "+1",
                '"\\u12g4"', "[" * 200 + "]" * 200, "}", '{1:2}', "1e", ".5", "tru", "true1", "nope", "half",
                "tape", "falsy", '"']


def test_documents_stand_in_lines_as_they_are_and_other_texts_as_strings(tmp_path, capfdbinary):
    """A column that was text may hold any, from before it became JSON (RFC 8259)."""
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY, j LONGTEXT)")
    texts = DOCUMENTS + NO_DOCUMENTS
    values = pa.array([text.encode() for text in texts])
    log.group(RowChanges(table, after={"id": ints(*range(len(texts))), "j": values}))
    log.log.query("ALTER TABLE t MODIFY j JSON", "d")
    *rows, altered = lines(capfdbinary, "--binlogs", log.close())
    assert [line["after"]["j"] for line in rows] == [
        *(json.loads(text, parse_float=Decimal) for text in DOCUMENTS), *NO_DOCUMENTS]
    assert (altered["op"], altered["key"], altered["before"], altered["after"]) == ("alter", None, None, None)


def debezium(capfdbinary, path, *argv):
    return lines(capfdbinary, "--binlogs", path, "--format", "debezium", *argv)


def test_debezium_has_its_envelope(tmp_path, capfdbinary):
    """An update of the key is a delete and a create; a server is who the event says."""
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.group(RowChanges(table, after={"id": ints(1, 2), "v": ints(5, 6)}))
    log.group(RowChanges(table, before={"id": ints(1, 2), "v": ints(5, 6)}, after={"id": ints(1, 3), "v": ints(7, 6)}))
    log.group(RowChanges(table, before={"id": ints(1), "v": ints(7)}))
    log.log.query("TRUNCATE TABLE t", "d")
    said = run(capfdbinary, "--binlogs", log.close(), "--format", "debezium")
    assert b"ALTER" not in said.err
    found = [json.loads(line) for line in said.out.splitlines()]
    one, two, moved = {"id": 1, "v": 5}, {"id": 2, "v": 6}, {"id": 3, "v": 6}
    assert [(line["op"], line["before"], line["after"]) for line in found] == [
        ("c", None, one), ("c", None, two), ("u", one, {"id": 1, "v": 7}), ("d", two, None), ("c", None, moved),
        ("d", {"id": 1, "v": 7}, None), ("t", None, None)]
    feed = applier.changes(str(log.path), "d.t").to_arrow().to_pylist()
    source = found[0]["source"]
    assert list(source) == ["version", "connector", "name", "ts_ms", "snapshot", "db", "sequence", "table", "server_id",
                            "gtid", "file", "pos", "row", "thread", "query"]
    assert (source["connector"], source["db"], source["table"], source["server_id"]) == ("mysql", "d", "t", 1)
    assert (source["gtid"], source["file"], source["pos"]) == (feed[0]["_gtid"], feed[0]["_file"], feed[0]["_pos"])
    assert source["ts_ms"] == found[0]["ts_ms"] == feed[0]["_commit_timestamp"].timestamp() * 1000


def test_debezium_has_its_types(tmp_path, capfdbinary):
    """Debezium's connector for MySQL, data type mappings, defaults except for decimals as strings."""
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id BIGINT UNSIGNED PRIMARY KEY, a BIT(1), b BIT(10), n DECIMAL(12,8), d DATE, "
                       "s DATETIME, m DATETIME(6), z TIMESTAMP(3) NULL, t TIME, y YEAR, x VARBINARY(9), "
                       "e ENUM('p','q'), f DOUBLE, g GEOMETRY)")
    time = datetime(2018, 6, 20, 6, 37, 3, 123456)
    log.group(RowChanges(table, after={
        "id": pa.array([2**63], pa.uint64()), "a": pa.array([1], pa.uint64()), "b": pa.array([0x102], pa.uint64()),
        "n": pa.array([Decimal("-0.00000001")], pa.decimal128(12, 8)), "d": pa.array([time.date()]),
        "s": pa.array([time.replace(microsecond=0)], pa.timestamp("us")), "m": pa.array([time], pa.timestamp("us")),
        "z": pa.array([time.replace(microsecond=120000, tzinfo=UTC)], pa.timestamp("us", "UTC")),
        "t": pa.array([timedelta(seconds=-1)], pa.duration("us")), "y": pa.array([2018], pa.int16()),
        "x": pa.array([b"\xff\x00a"]), "e": pa.array([2], pa.uint16()), "f": pa.array([0.1]),
        "g": pa.array([b"\xe6\x10\x00\x00\x01wkb"])}))
    [line] = debezium(capfdbinary, log.close())
    assert line["after"] == {
        "id": 2**63, "a": True, "b": base64.b64encode(b"\x02\x01").decode(), "n": "-0.00000001",
        "d": (time.date() - datetime(1970, 1, 1).date()).days, "s": 1529476623000, "m": 1529476623123456,
        "z": "2018-06-20T06:37:03.120Z", "t": -1_000_000, "y": 2018, "x": "/wBh", "e": "q", "f": Decimal("0.1"),
        "g": {"wkb": base64.b64encode(b"\x01wkb").decode(), "srid": 4326}}


def test_complete_changes_are_whole_rows(capfdbinary):
    found = debezium(capfdbinary, ARCHIVE, "--complete", "--table", "shop.orders")
    rows = {}
    for line in found:
        if line["before"] is not None:
            assert rows.pop(line["before"]["id"]) == line["before"]
        if line["after"] is not None:
            rows[line["after"]["id"]] = line["after"]
    assert len(rows) == 2114


def test_debezium_refuses_parts_of_rows(tmp_path, capfdbinary):
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
    log.group(RowChanges(table, before={"id": ints(1)}, after={"v": ints(1)}))
    assert cli.main(["changes", "--binlogs", log.close(), "--format", "debezium"]) == 2
    assert b"this image does not contain all columns" in capfdbinary.readouterr().err


def test_cells_that_a_spreadsheet_would_run(tmp_path, capfdbinary):
    """With --spreadsheet-safe such texts and names of columns begin with a quote; numbers and other texts do not."""
    log = Log(tmp_path)
    table = log.create("CREATE TABLE t (id INT PRIMARY KEY, `=n` VARCHAR(40), d DECIMAL(5,2))")
    texts = ["=1+1", "+cmd", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "", None, "plain", "-1.50",
             "+1e3", "a=1", "名"]
    rows = len(texts)
    log.group(RowChanges(table, after={"id": ints(*range(rows)), "=n": pa.array(texts),
                                       "d": pa.array([Decimal("-1.50")] * rows, pa.decimal128(5, 2))}))
    path = log.close()

    def table_of(*more):
        out = run(capfdbinary, "--binlogs", path, "--format", "csv", *more).out
        return csv.read_csv(pa.BufferReader(out), parse_options=csv.ParseOptions(newlines_in_values=True),
                            convert_options=csv.ConvertOptions(strings_can_be_null=True,
                                                               quoted_strings_can_be_null=False))

    assert table_of()["=n"].to_pylist() == texts
    safe = table_of("--spreadsheet-safe")
    assert safe["'=n"].to_pylist() == [f"'{text}" for text in texts[:8]] + texts[8:]
    assert safe["d"].to_pylist() == table_of()["d"].to_pylist() and safe["id"].to_pylist() == list(range(rows))
    assert cli.main(["changes", "--binlogs", path, "--spreadsheet-safe"]) == 2
    assert b"--format csv" in capfdbinary.readouterr().err
