"""Detects whether a dump is from MySQL or MariaDB, as far as it shows it.

The strongest mark decides: the server version in a comment; else features of only one of the servers, such as
positions, engines and collations; else the program that wrote the dump, which may be the other server's. Rows are
ignored: a mark counts only at the start of a line, where mysqldump, mydumper and similar programs write no row text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from applier.errors import UsageError
from applier.schema.definition import TableDefinition

MYSQL, MARIADB = "mysql", "mariadb"
_VERSION = re.compile(rb"^-- Server version:?\s+([^\r\n]*)", re.MULTILINE)
_NUMBER = re.compile(rb"([0-9]+)\.")
_DEFINES = rb"^(?:CREATE DATABASE |\)\s*ENGINE=|  `|/\*!)[^\n]*"
"""A line that defines something, up to a mark in it; or that sets something up."""
_OF_THE_SERVER = {
    MYSQL: re.compile(rb"^(?:--\s*|/\*\s*)?(?:SET\s+@@GLOBAL\.GTID_PURGED|CHANGE\s+REPLICATION\s+SOURCE)\b|"
                      + _DEFINES + rb"(?:utf8mb4_0900_|/\*!8[0-9]{4} )|^/\*!8[0-9]{4} ", re.MULTILINE),
    MARIADB: re.compile(rb"^(?:--\s*)?SET\s+GLOBAL\s+gtid_slave_pos\b|^\)\s*ENGINE=(?:Aria|ROCKSDB|Columnstore)\b|"
                        + _DEFINES + rb"(?:_uca1400_|/\*!1[0-9]{5} )", re.MULTILINE),
}
_OF_THE_PROGRAM = {MYSQL: re.compile(rb"^-- MySQL dump (?![^\n]*MariaDB)", re.MULTILINE),
                   MARIADB: re.compile(rb"^-- MariaDB dump|^-- MySQL dump [^\n]*MariaDB|^/\*M!", re.MULTILINE)}


def flavour_of_version(version: str) -> str | None:
    """Return the flavour of a server version, such as 8.0.36 or 5.5.5-10.11.6-MariaDB; None if it is not clear."""
    if "mariadb" in version.lower():
        return MARIADB
    number = _NUMBER.match(version.encode("ascii", "replace"))
    if "mysql" in version.lower():
        return MYSQL
    return None if number is None else MARIADB if int(number[1][:4]) >= 10 else MYSQL


def flavour_of_gtids(gtid_set: str) -> str | None:
    """Return the flavour of a GTID set's notation; None for an empty set."""
    return None if not gtid_set else MYSQL if ":" in gtid_set else MARIADB


def flavour_of_text(text: bytes, uri: str) -> str | None:
    """Return the flavour that the text of a dump, or its beginning, tells; None if it tells none. Raises UsageError if
    it contradicts itself."""
    versions = (flavour_of_version(match[1].decode("utf-8", "replace")) for match in _VERSION.finditer(text))
    if said := {flavour for flavour in versions if flavour is not None}:
        return _the_one(said, uri)
    for marks in (_OF_THE_SERVER, _OF_THE_PROGRAM):
        if said := {flavour for flavour, mark in marks.items() if mark.search(text)}:
            return _the_one(said, uri)
    return None


def _the_one(said: set[str], uri: str) -> str:
    if len(said) > 1:
        raise UsageError("the dump has marks of both MySQL and MariaDB", file=uri,
                         hint="name its server: --flavour mysql or --flavour mariadb")
    [flavour] = said
    return flavour


def check_no_mariadb(definitions: Iterable[TableDefinition], gtid_set: str, uri: str) -> None:
    """Raise UsageError if a dump that did not name its server in time, and was read as MySQL's, has a table, or a
    position, that only MariaDB has."""
    if flavour_of_gtids(gtid_set) == MARIADB:
        raise UsageError("only the GTIDs after its rows show that the dump is of MariaDB", file=uri,
                         hint="import it with --flavour mariadb")
    for definition in definitions:
        types = [column.type for column in definition.columns]
        collations = [definition.collation, *(type_.collation for type_ in types)]
        if definition.versioning is not None or (definition.engine or "").upper() == "ARIA" \
                or any("mysql" not in type_.entry.flavours or type_.compressed for type_ in types) \
                or any("_uca1400_" in (name or "") or "_nopad_" in (name or "") for name in collations):
            raise UsageError("the dump does not name its kind of server, and contains a table that only MariaDB can "
                             "have",
                             file=uri,
                             table=definition.full_name, hint="import it with --flavour mariadb")
