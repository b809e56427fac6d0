"""A dump as MySQL Shell's util.dumpInstance() writes one: made here, since no package of it is at hand.

After its documentation ("Instance Dump Utility, Schema Dump Utility, and Table Dump Utility") and its dumper's source
(modules/util/dump/dumper.cc, dump_utils.cc): the files' names and contents, not how the shell divides tables.
"""

import base64
import gzip
import json
import re
from pathlib import Path

import pyarrow as pa

from applier.jobs.exporting.job import export_snapshot
from applier.options import ExportOptions
from applier.schema.definition import TableDefinition
from applier.snapshot import manifest

COMPRESSIONS = {"none": ("", bytes), "gzip": (".gz", gzip.compress),
                "zstd": (".zst", lambda data: pa.compress(data, "zstd", asbytes=True))}
DIALECTS = {"default": ("\t", "", False, "\n"), "tsv": ("\t", '"', True, "\n"), "csv": (",", '"', True, "\r\n"),
            "csv-unix": (",", '"', False, "\n")}
"""The end of a field, its quote, whether only text is quoted, the end of a line."""


def make_shell_dump(snapshot: Path, folder: Path, decode: str = "FROM_BASE64", compression: str = "zstd",
                    dialect: str = "default") -> None:
    """The rows of a snapshot, two files a table; bytes as base64 or, with UNHEX, as hexadecimal digits."""
    export_snapshot(ExportOptions(str(snapshot), f"{folder}-rows", "tsv"))
    loads = Path(f"{folder}-rows/_load.sql").read_text()
    held = manifest.load(str(snapshot))
    schemas = sorted({table.database for table in held.tables})
    folder.mkdir()
    _write(folder, "@.json", {
        "dumper": "mysqlsh Ver 9.1.0 for Linux on x86_64", "version": "2.0.1", "origin": "dumpInstance",
        "schemas": schemas, "basenames": {schema: schema for schema in schemas}, "defaultCharacterSet": "utf8mb4",
        "tzUtc": True, "bytesPerChunk": 64000000, "serverVersion": "9.7.4", "binlogFile": held.position.file,
        "binlogPosition": held.position.offset, "gtidExecuted": held.position.gtid_set.replace(",", ",\n"),
        "gtidExecutedInconsistent": False, "consistent": True, "compatibilityOptions": []})
    for schema in schemas:
        tables = [table for table in held.tables if table.database == schema]
        _write(folder, f"{schema}.json", {
            "schema": schema, "includesDdl": True, "includesData": True, "tables": [table.name for table in tables],
            "basenames": {table.name: f"{schema}@{table.name}" for table in tables}})
        (folder / f"{schema}.sql").write_text(f"-- MySQLShell dump 2.0.1\n/*!50503 SET NAMES utf8mb4 */;\n"
                                              f"CREATE DATABASE /*!32312 IF NOT EXISTS*/ `{schema}`;\n")
        for table in tables:
            _write_table(folder, f"{schema}@{table.name}", table.definition, loads,
                         Path(f"{folder}-rows"), decode, compression, dialect)
    _write(folder, "@.done.json", {"end": "2026-01-01 00:00:00"})


def _write_table(folder: Path, base: str, definition: TableDefinition, loads: str, rows: Path, decode: str,
                 compression: str, dialect: str) -> None:
    suffix, pack = COMPRESSIONS[compression]
    field_end, enclosed, optionally, line_end = DIALECTS[dialect]
    extension = f"{'csv' if field_end == ',' else 'tsv'}{suffix}"
    name = f"`{definition.database}`.`{definition.name}`"
    sql = definition.to_sql().replace(name, f"`{definition.name}`", 1)
    (folder / f"{base}.sql").write_text(f"-- MySQLShell dump 2.0.1\n/*!50503 SET NAMES utf8mb4 */;\n{sql};\n")
    columns = [column for column in definition.columns if not column.generated]
    load = re.search(rf"INFILE '([^']+)' INTO TABLE {re.escape(name)} .*? \((.*?)\)(?: SET .*)?;", loads)
    lines = (rows / load[1]).read_bytes().splitlines(True) if load else []
    coded = [number for number, place in enumerate(load[2].split(",") if load else ()) if place.startswith("@")]
    lines = [_recoded(line, columns, coded, decode) for line in lines]
    numbers = [number for number, column in enumerate(columns) if column.type.base == "int" and optionally]
    lines = [_in_dialect(line, field_end, enclosed, numbers, line_end) for line in lines]
    half = len(lines) // 2
    for chunk, part in (("@0", lines[:half]), ("@@1", lines[half:])):
        (folder / f"{base}{chunk}.{extension}").write_bytes(pack(b"".join(part)))
        (folder / f"{base}{chunk}.{extension}.idx").write_bytes(bytes(8))
    _write(folder, f"{base}.json", {
        "options": {
            "schema": definition.database, "table": definition.name, "columns": [column.name for column in columns],
            "decodeColumns": {columns[number].name: decode for number in coded}, "defaultCharacterSet": "utf8mb4",
            "fieldsTerminatedBy": field_end, "fieldsEnclosedBy": enclosed, "fieldsOptionallyEnclosed": optionally,
            "fieldsEscapedBy": "\\", "linesTerminatedBy": line_end},
        "includesData": True, "includesDdl": True, "extension": extension, "chunking": True, "compression": compression,
        "primaryIndex": [], "partitions": [], "basenames": {}})


def _in_dialect(line: bytes, field_end: str, enclosed: str, bare: list[int], line_end: str) -> bytes:
    """A line with other ends of fields and of itself; all fields but NULLs and `bare` ones are enclosed."""
    fields = line[:-1].split(b"\t")
    quote = enclosed.encode()
    if quote:
        fields = [field if field == b"\\N" or number in bare else
                  quote + field.replace(quote, b"\\" + quote) + quote for number, field in enumerate(fields)]
    return field_end.encode().join(fields) + line_end.encode()


def _recoded(line: bytes, columns: list, coded: list[int], decode: str) -> bytes:
    """A line of an export with the bytes of its fields as the shell has them: TO_BASE64 breaks lines, and what a server
    shows of a BIT is its bytes."""
    fields = line[:-1].split(b"\t")
    for number in coded:
        if fields[number] != b"\\N":
            data = bytes.fromhex(fields[number].decode()) if columns[number].type.base != "bit" else \
                int(fields[number]).to_bytes(((columns[number].type.length or 1) + 7) // 8, "big")
            encoded = data.hex().upper().encode() if decode == "UNHEX" else \
                base64.encodebytes(data).strip().replace(b"\n", b"\\n")
            fields[number] = encoded
    return b"\t".join(fields) + b"\n"


def _write(folder: Path, name: str, content: dict) -> None:
    (folder / name).write_text(json.dumps(content))
