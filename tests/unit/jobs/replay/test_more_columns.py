"""A replica with columns that the log lacks: inserts give them their defaults, updates leave them, rows that move take
them along. Rules: AP-POS, DEF-R1a, DEF-R2, IMG-MIX, IDX-R3."""

import random

import pytest

from applier.jobs.importing.job import import_dump
from applier.jobs.replay.job import replay_with
from applier.options import ImportOptions, ReplayOptions
from applier.writer.row_encoder import RowChanges
from applier.writer.writer import BinlogWriter
from tests.support.small_logs import ITEM, images
from tests.support.small_parts import SmallParts, rows_of

TARGET = "CREATE TABLE item (id INT NOT NULL PRIMARY KEY, n INT, s VARCHAR(20), e INT NOT NULL DEFAULT 7, f CHAR(3))"
ALL = "id n s"


@pytest.mark.parametrize("shapes", [[ALL], [ALL, ALL, "n", "s", "id s"]], ids=["full", "mixed"])
@pytest.mark.parametrize("unit_bytes", [150, 1 << 27])
@pytest.mark.parametrize("seed", range(4))
def test_updates_leave_them(tmp_path, shapes, seed, unit_bytes):
    """No image has the whole row, so that a table whose rows move to other keys is one unit, whatever its size."""
    dice = random.Random(seed)
    rows = {key: {"id": key, "n": dice.randrange(9), "s": "base", "e": dice.randrange(9), "f": dice.choice("xyz")}
            for key in range(0, 120, 2)}
    values = ", ".join(str(tuple(row.values())) for row in rows.values())
    (tmp_path / "target.sql").write_text(
        f"CREATE DATABASE shop;\nUSE shop;\n{TARGET};\nINSERT INTO item VALUES {values};\n")
    import_dump(ImportOptions(str(tmp_path / "target.sql"), str(tmp_path / "base"), flavour="mysql"))
    with BinlogWriter(tmp_path / "binlog.000001") as log:
        for _ in range(200):
            kind, new = dice.choice(["insert", "update", "update", "update", "delete"]), dice.randrange(200)
            image = (new, dice.randrange(9), dice.choice("abc"))
            with log.transaction():
                if kind == "insert":
                    if new not in rows:
                        rows[new] = {**dict(zip(ALL.split(), image, strict=True)), "e": 7, "f": None}
                        log.rows(RowChanges(ITEM, after=images([image])))
                    continue
                old = dice.choice(sorted(rows))
                if new in rows or dice.random() < 0.7:
                    image = (old, *image[1:])
                row = rows.pop(old)
                before = images([(row["id"], row["n"], row["s"])])
                if kind == "update":
                    names = dice.choice(shapes)
                    row.update((name, value) for name, value in zip(ALL.split(), image, strict=True)
                               if name in names.split())
                    rows[row["id"]] = row
                log.rows(RowChanges(ITEM, before=before, after=images([image], names) if kind == "update" else None))
    executor = SmallParts(2, unit_bytes, 8192, 1 << 26)
    with executor.sizes():
        [table] = replay_with(executor, ReplayOptions((str(log.path),), str(tmp_path / "out"),
                                                      base=str(tmp_path / "base"))).tables
    assert (table.ranges > 9, table.units, bool(table.tied)) == (unit_bytes == 150, 1, True)
    assert rows_of(tmp_path / "out") == {"shop.item": [row for _, row in sorted(rows.items())]}
