"""Delta commits that deltalake does not write, with change data or of metadata alone: one line of JSON per action, in a
file that is created only if none with its number exists."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction

from applier.errors import SnapshotError
from applier.io.disk import new_files
from applier.io.resolver import join
from applier.version import __version__

_KNOWN = frozenset(("appendOnly", "changeDataFeed", "invariants", "timestampNtz", "variantType"))
"""Features of tables that commits take into account: those of tables that were published from here. deltalake adds
variantType when it sets a property; no column has this type."""
_LOCAL_TIMES = "timestampNtz"
_HAS_FEEDS, _LISTS_FEATURES, _READERS_LIST_FEATURES = 4, 7, 3
"""The versions of the protocol for writers from which on tables have feeds, and name their features; and the version
for readers from which on they name those of readers."""
FEED = "delta.enableChangeDataFeed"
"""The property of a table whose commits have change data."""
_CHECKPOINT_EVERY = 100


def commit_changes(uri: str, table: DeltaTable, added: Sequence[AddAction], removed: Mapping[str, int],
                   changes: Iterable[tuple[str, int]] | None, application: str, about: Mapping[str, str]) -> bool:
    """Commit files that are added and removed, with the files of change data, of the names and sizes given; None: no
    row has changed. False if another writer made a commit of this number. Raises SnapshotError for a table with
    features that are unknown here; errors: OSError."""
    _check_features(uri, table)
    version, now, changed = table.version() + 1, _now(), changes is not None
    actions: list[dict[str, Any]] = [{"txn": {"appId": application, "version": version, "lastUpdated": now}}]
    actions += [{"remove": {"path": name, "deletionTimestamp": now, "dataChange": changed, "extendedFileMetadata": True,
                            "partitionValues": {}, "size": size}} for name, size in removed.items()]
    actions += [{"add": {"path": file.path, "partitionValues": {}, "size": file.size,
                         "modificationTime": file.modification_time, "dataChange": changed, "stats": file.stats}}
                for file in added]
    actions += [{"cdc": {"path": name, "partitionValues": {}, "size": size, "dataChange": False}}
                for name, size in changes or ()]
    if not _commit(uri, version, now, "WRITE", {"mode": "Append"}, actions, about):
        return False
    wanted = table.metadata().configuration.get("delta.checkpointInterval", "")
    if version % (int(wanted) if re.fullmatch("[1-9][0-9]{0,8}", wanted) else _CHECKPOINT_EVERY) == 0:
        table.update_incremental()
        table.create_checkpoint()
    return True


def announce(uri: str, table: DeltaTable, properties: Mapping[str, str], *, local_times: bool) -> bool:
    """Commit properties of a table, with the features of its protocol that FEED and, with `local_times`, columns of
    timestamp_ntz need. deltalake would add features of columns that the table does not have, which readers refuse, and
    drop the feed's. False if another writer made a commit of this number. Raises SnapshotError for a table with
    features that are unknown here; errors: OSError."""
    _check_features(uri, table)
    protocol, about = table.protocol(), _metadata(table, table.schema())
    about["configuration"] |= properties
    feed = ["changeDataFeed"] if about["configuration"].get(FEED) == "true" else []
    times = [_LOCAL_TIMES] if local_times else []
    needed: dict[str, Any] = {"minReaderVersion": protocol.min_reader_version,
                              "minWriterVersion": max(protocol.min_writer_version, _HAS_FEEDS if feed else 0)}
    if times or protocol.min_writer_version >= _LISTS_FEATURES:
        needed["minWriterVersion"] = _LISTS_FEATURES
        needed["writerFeatures"] = sorted({*(protocol.writer_features or ()), *feed, *times})
    if times or protocol.min_reader_version >= _READERS_LIST_FEATURES:
        needed["minReaderVersion"] = _READERS_LIST_FEATURES
        needed["readerFeatures"] = sorted({*(protocol.reader_features or ()), *times})
    said = {"properties": orjson.dumps(dict(properties)).decode()}
    return _commit(uri, table.version() + 1, _now(), "SET TBLPROPERTIES", said,
                   [{"protocol": needed}, {"metaData": about}], {})


def announces_local_times(table: DeltaTable) -> bool:
    """Return whether a table has the feature that columns of timestamp_ntz need."""
    return _LOCAL_TIMES in (table.protocol().writer_features or ())


def allow_nulls(uri: str, table: DeltaTable, schema: Schema) -> bool:
    """Commit that columns may be null as in this schema, which has the table's columns. False if another writer made a
    commit of this number. Raises SnapshotError for a table with features that are unknown here; errors: OSError."""
    _check_features(uri, table)
    about = _metadata(table, schema)
    return _commit(uri, table.version() + 1, _now(), "CHANGE COLUMNS", {"columns": about["schemaString"]},
                   [{"metaData": about}], {})


def _metadata(table: DeltaTable, schema: Schema) -> dict[str, Any]:
    metadata = table.metadata()
    return {"id": metadata.id, "name": metadata.name, "description": metadata.description,
            "format": {"provider": "parquet", "options": {}}, "schemaString": schema.to_json(),
            "partitionColumns": metadata.partition_columns, "createdTime": metadata.created_time,
            "configuration": dict(metadata.configuration)}


def _check_features(uri: str, table: DeltaTable) -> None:
    """Raise SnapshotError for a table with features that commits would have to mind, and that are unknown here."""
    if unknown := set(table.protocol().writer_features or ()) - _KNOWN:
        raise SnapshotError("the table uses a feature that is not supported with change data, nor where the key's "
                            f"columns or NOT NULL change: {min(unknown)}", file=uri,
                            hint=f"drop the feature, or the property {FEED}")


def _commit(uri: str, version: int, now: int, operation: str, parameters: Mapping[str, str],
            actions: Sequence[Mapping[str, Any]], about: Mapping[str, str]) -> bool:
    info = {"timestamp": now, "operation": operation, "operationParameters": parameters, "readVersion": version - 1,
            "isBlindAppend": False, "engineInfo": f"applier:{__version__}", "txnId": str(uuid.uuid4()), **about}
    content = b"".join(orjson.dumps(action, option=orjson.OPT_APPEND_NEWLINE)
                       for action in ({"commitInfo": info}, *actions))
    return new_files.make(join(uri, f"_delta_log/{version:020}.json"), content)


def _now() -> int:
    return int(time.time() * 1000)
