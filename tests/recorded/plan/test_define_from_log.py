"""--define-from-log: tables that only the log's metadata defines.

metadata/SERVER.gz is the binlog (binlog_row_metadata=FULL) of real servers into which the tables of
recorded/importing/dumps/SERVER were loaded, after their CREATE TABLEs, which are not in it.
"""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from applier.binlog.events.table_map import parse_table_map
from applier.columns.from_log import COLUMN_NAME, ENUM_LABELS, definition_from_log, has_definition
from applier.engine.executor import ThisProcess
from applier.errors import ApplierError, ArchiveError, SchemaError
from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.mysql.wire_types import WireType
from applier.options import ImportOptions, ReplayOptions
from applier.snapshot import manifest
from applier.writer.writer import BinlogWriter
from tests.support.folders import DUMPS
from tests.support.real_server import differences
from tests.support.small_logs import commit, insert

METADATA = Path(__file__).parent / "metadata"
# What the log does not tell: VIRTUAL columns and MariaDB's types over BINARY; DOUBLE(M,D), which is shown rounded.
NOT_TOLD = ("gc2_kept.g:", "gc2_kept.gn:", "gc4_kept.g:", "gc4_kept.gn:", "types0_kept.nets:")


def binlog(server, folder):
    log = folder / "binlog.000001"
    log.write_bytes(gzip.decompress((METADATA / f"{server}.gz").read_bytes()))
    return str(log)


def definitions(snapshot):
    return {table.full_name: table.definition
            for table in manifest.load(str(snapshot)).tables}


@pytest.mark.parametrize("server", ["mysql", "mariadb"])
def test_every_type(server, tmp_path):
    """Rows as the server held them; columns, types, character sets, labels and primary keys as they were made."""
    options = ReplayOptions((binlog(server, tmp_path),), str(tmp_path / "out"), define_from_log=True)
    result = replay_with(ThisProcess(), options)
    wrong = [line for line in differences(tmp_path / "out", DUMPS / server / "expected")
             if not line.startswith(NOT_TOLD)]
    assert [line.partition(" (6, ")[0] for line in wrong] == \
        ["types0_kept.floats: 1 x missing", "types0_kept.floats: 1 x unexpected"]
    assert any("types0_kept.ints: defined by what the log says" in note for note in result.notes)
    import_dump(ImportOptions(str(DUMPS / server / "plain.sql.gz"), str(tmp_path / "made")))
    made, told = definitions(tmp_path / "made"), definitions(tmp_path / "out")
    for name, definition in made.items():
        if not name.startswith(tuple(name.rstrip(":") for name in NOT_TOLD)) and "floats" not in name:
            assert [_told(column) for column in told[name].columns] == [_told(column) for column in definition.columns]
            if server == "mysql":  # MariaDB's log does not have it
                assert [column.invisible for column in told[name].columns] == \
                    [column.invisible for column in definition.columns]
        assert [key.parts for key in told[name].keys] == [key.parts for key in [_first_key(definition)] if key]
    assert manifest.load(str(tmp_path / "out")).source.options["define_from_log"] is True


def _first_key(definition):
    """The primary key, or what a server takes for it: the first unique key over columns that are NOT NULL."""
    for key in definition.keys:
        nullable = any(part.column is None or definition.column(part.column).nullable for part in key.parts)
        if key.kind == "primary" or (key.kind == "unique" and not nullable):
            return key
    return None


def _told(column):
    """What the log has of a column: display widths and reference systems are not in it."""
    kind = column.type
    length = kind.length if kind.base not in ("tinyint", "smallint", "mediumint", "int", "bigint", "year") else None
    base = {"geomcollection": "geometrycollection"}.get(kind.base, kind.base)
    if base == "json" and column.type.charset:
        base = "longtext"
    return (column.name, base, kind.unsigned, length, kind.precision if base == "decimal" else None, kind.fsp,
            kind.charset, kind.collation, kind.members, kind.compressed, column.nullable)


def test_without_the_option_the_error_names_it(tmp_path):
    """1146 with table and place; how to give a definition; the option, as this log has what it takes."""
    options = ReplayOptions((binlog("mysql", tmp_path),), str(tmp_path / "out"))
    with pytest.raises(SchemaError) as stopped:
        replay_with(ThisProcess(), options)
    assert stopped.value.exit_code == 1 and stopped.value.position is not None
    for part in ("gc4_kept.g", "1146", "--schema", "--base", "--define-from-log", "binlog.000001"):
        assert part in str(stopped.value)


def test_a_log_without_metadata(tmp_path):
    """The option cannot help, and is not offered."""
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        commit(log, insert([(1, 10, "one")]))
    options = {"binlogs": (str(tmp_path / "binlog.000001"),), "output": str(tmp_path / "out")}
    with pytest.raises(SchemaError, match="has no definition") as stopped:
        replay_with(ThisProcess(), ReplayOptions(**options))
    assert "--schema" in stopped.value.hint and "--define-from-log" not in stopped.value.hint
    with pytest.raises(SchemaError, match=r"does not describe.*binlog_row_metadata=FULL"):
        replay_with(ThisProcess(), ReplayOptions(**options, define_from_log=True))


def test_damaged_metadata():
    """Cut anywhere, and with any byte another one: a definition, or an error of ours."""
    body = _table_map("mysql", "types1_kept", "enums")
    table_map = parse_table_map(body)
    assert has_definition(table_map)
    for kind, data in table_map.optional.items():
        for cut in range(0, len(data), 1 + len(data) // 40):
            for damaged in (data[:cut], data[:cut] + bytes([data[cut] ^ 0xFF]) + data[cut + 1:]):
                try:
                    definition_from_log(saying(table_map, kind, damaged), ("d", "t"), "mysql")
                except ApplierError:
                    continue
    with pytest.raises(ArchiveError, match="1610"):
        definition_from_log(saying(table_map, COLUMN_NAME, table_map.optional[COLUMN_NAME][:-1]), ("d", "t"), "mysql")


def saying(table_map, kind, data):
    """A table map with other optional metadata of a kind."""
    return replace(table_map, optional={**table_map.optional, kind: data})


@pytest.mark.parametrize("collation", [45, 63])
@pytest.mark.parametrize("prefix", [0, 5])
def test_a_blob_of_an_unknown_length(prefix, collation):
    """The bytes of its length are 1 to 4; 0 is what the other texts have."""
    body = (b"\1\0" b"\1d\0" b"\1t\0" b"\1" + bytes([WireType.BLOB]) + bytes([1, prefix]) + b"\0" + b"\3\1" +
            bytes([collation]) + b"\4\2\1a")
    with pytest.raises(ArchiveError, match=r"1610.*d\.t|d\.t.*1610") as stopped:
        definition_from_log(parse_table_map(body), ("d", "t"), "mysql")
    assert f"a BLOB whose length has {prefix} bytes" in str(stopped.value)


def test_fewer_labels_than_columns():
    """The error names the fault if a list ends too early."""
    table_map = parse_table_map(_table_map("mysql", "types1_kept", "enums"))
    with pytest.raises(ArchiveError, match="malformed: it does not describe all columns"):
        definition_from_log(saying(table_map, ENUM_LABELS, b""), ("d", "t"), "mysql")


def _table_map(server, database, table):
    """The body of a table's TABLE_MAP event."""
    data = gzip.decompress((METADATA / f"{server}.gz").read_bytes())
    name = bytes([len(database)]) + database.encode() + b"\0" + bytes([len(table)]) + table.encode() + b"\0"
    start = data.index(name) - 2
    size = int.from_bytes(data[start - 16:start - 12], "little")  # of the event: header, id, body, checksum
    return data[start:start + size - 19 - 6 - 4]
