"""Logs of MariaDB with groups of any domain, server and number, in any order: a transaction each, which inserts a row
whose key tells its GTID."""

from collections.abc import Sequence
from pathlib import Path
from struct import pack
from unittest import mock

import numpy as np

from applier.schema.ddl.ddl import parse_statement
from applier.snapshot import manifest
from applier.writer import event_encoder
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import CREATE, Row, commit, held, images

[_created] = parse_statement(CREATE, default_database="shop", flavour="mariadb")
FIRST = "0-1-1"
"""The group that makes the table."""


def parts(gtid: str) -> tuple[int, int, int]:
    """Domain, server and number."""
    domain, server, number = map(int, gtid.split("-"))
    return domain, server, number


def row_of(gtid: str) -> Row:
    """The row that a group inserts."""
    domain, server, number = parts(gtid)
    return domain * 1000000 + server * 10000 + number, None, gtid


def groups_in(snapshot: Path | str) -> list[str]:
    """The groups whose rows a snapshot has, in the order of their keys."""
    return [str(text) for _, _, text in held(Path(snapshot))]


def position_of(snapshot: Path | str) -> str:
    """The GTIDs at which a snapshot stands."""
    return manifest.load(str(snapshot)).position.gtid_set


def write_history(folder: Path, files: Sequence[str], purged: int = 0) -> dict[str, tuple[str, int]]:
    """Write files of groups ("0-1-2 0-2-3"), after FIRST; the first `purged` files are removed. Returns where each
    group ends."""
    folder.mkdir()
    seen: dict[tuple[int, int], int] = {}
    last: dict[int, int] = {}
    domain, encode, ends = 0, event_encoder.mariadb_gtid, {}

    def in_domain(numbers: np.ndarray, *, statement: bool = False) -> np.ndarray:
        cells = np.array(encode(numbers, statement=statement))
        cells[:, 8:12] = np.frombuffer(pack("<I", domain), np.uint8)
        return cells

    def gtid_list(*_: int) -> bytes:
        order = sorted(seen.items(), key=lambda entry: (entry[0][0], last[entry[0][0]] == entry[0][1]))
        return pack("<I", len(order)) + b"".join(pack("<IIQ", *source, number) for source, number in order)

    with mock.patch.object(event_encoder, "mariadb_gtid", in_domain), \
            mock.patch.object(event_encoder, "gtid_list", gtid_list):
        log = BinlogWriter(folder / "binlog.000001", flavour="mariadb", server_id=1)
        for number, groups in enumerate(files):
            log = log.rotate(folder / f"binlog.{number + 1:06d}") if number else log
            for gtid in [*([FIRST] if number == 0 else []), *groups.split()]:
                domain, log.server_id, sequence = parts(gtid)
                log.executed = sequence - 1
                if gtid == FIRST:
                    log.query(CREATE, "shop")
                else:
                    commit(log, RowChanges(_created.definition, after=images([row_of(gtid)])))
                seen[domain, log.server_id], last[domain] = sequence, log.server_id
                ends[gtid] = (f"binlog.{number + 1:06d}", log.position)
        log.close()
    for number in range(purged):
        (folder / f"binlog.{number + 1:06d}").unlink()
    return ends


