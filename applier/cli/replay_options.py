"""Options that say how a log is applied, of `replay` and of `sync`."""

from enum import StrEnum
from typing import Annotated

import typer


class ExecMode(StrEnum):
    """How to treat a row that is not there, or a key that is there twice."""

    strict = "strict"
    idempotent = "idempotent"


class ZeroDates(StrEnum):
    """What '0000-00-00' becomes."""

    null = "null"
    error = "error"


class Witness(StrEnum):
    """What to do where the log contradicts a replayed row."""

    report = "report"
    stop = "stop"
    off = "off"


class OnStatement(StrEnum):
    """How to treat a change that is logged as a statement, not as rows."""

    error = "error"
    skip = "skip"


BinlogsOption = Annotated[list[str], typer.Option(
    metavar="PATH...", help="The archive: a directory, files, a glob in quotes, or an index file; local or a URI "
                            "(s3://, gs://, hdfs://); files may be .gz, .zst, .lz4 or .xz. Several may follow.")]
BaseOption = Annotated[str | None, typer.Option(metavar="SNAPSHOT", help="Start from this snapshot.")]
SchemaOption = Annotated[str | None, typer.Option(
    metavar="FILE.sql", help="CREATE TABLEs of tables that exist, empty, before the first binlog.")]
ExecModeOption = Annotated[ExecMode, typer.Option(
    help="What happens if a row is not as the log has it. "
         "strict: stop if a row is not there (1032) or a key is there twice (1062). idempotent: an insert "
         "replaces the "
         "rows in its way; updates and deletes that cannot be made are suppressed and listed.")]
TypeConversionsOption = Annotated[list[str] | None, typer.Option(
    metavar="NAME,...", help="Which columns of the log may have another type than the table's (of --base or "
    "--schema), as replica_type_conversions says: all_non_lossy, all_lossy; all_unsigned to read integers as "
    "such.")]
TablesOption = Annotated[list[str] | None, typer.Option(
    metavar="DB.TABLE,...", help="Only these tables; DB alone means the whole database. `*` and `?` are wildcards, "
    "and so are `%` and, in a name with `%`, `_`, as in replicate-wild-do-table (`\\_` is an underscore).")]
IgnoreTablesOption = Annotated[list[str] | None, typer.Option(metavar="DB.TABLE,...", help="All but these.")]
RewriteDbOption = Annotated[list[str] | None, typer.Option(
    metavar="OLD=NEW,...", help="Give databases of the log other names, in rows and DDL, before --tables and "
                                "--ignore-tables apply; --schema and --base use the new names.")]
ReapplyOption = Annotated[bool, typer.Option(
    "--reapply", help="With --start-position: apply transactions again that the base has executed.")]
ZeroDatesOption = Annotated[ZeroDates, typer.Option(
    help="A zero date becomes null and is counted, or stops the replay.")]
WitnessOption = Annotated[Witness, typer.Option(
    help="Compare each before-image of an update or delete with the row that it found. report: count differences by "
         "table and column, and warn; the snapshot is what a replica would hold. stop: stop at the first difference. "
         "off: compare nothing.")]
OnStatementOption = Annotated[OnStatement, typer.Option(
    help="INSERT, UPDATE, LOAD DATA and other changes that are logged as statements, which a row applier cannot "
         "apply: error stops there; skip leaves them out, and the report counts them by table. The snapshot then "
         "lacks their changes.")]
SystemTimeZoneOption = Annotated[str | None, typer.Option(
    metavar="ZONE", help="The server's SYSTEM time zone, which the log does not record, as +02:00 or Europe/Rome: "
                         "ALTER uses it to convert between TIMESTAMP and other types in sessions that set no "
                         "zone.")]
TargetFileSizeOption = Annotated[str, typer.Option(
    metavar="SIZE", help="About how large new files become, as 64M or 1G. An increment writes again each file that "
                         "has a changed row; many small files are slower to read.")]
DefineTablesOption = Annotated[bool, typer.Option(
    "--define-from-log", help="If neither a CREATE TABLE in the log nor --schema nor --base defines a table, take "
                              "columns, types "
                              "and primary key from the log's metadata (binlog_row_metadata=FULL).")]
