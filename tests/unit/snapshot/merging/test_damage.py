"""Lakes that merge on read: damage is an error, and never another row."""

import json
import os
import shutil
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

import applier
from applier.errors import SnapshotError
from applier.snapshot.files import shards
from tests.support.merging import entry_of


def flipped(path, place):
    with open(path, "r+b") as file:
        file.seek(place, os.SEEK_END if place < 0 else os.SEEK_SET)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


DAMAGE = {
    "missing": lambda path: path.unlink(),
    "shorter": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "empty": lambda path: path.write_bytes(b""),
    "a byte of rows": lambda path: flipped(path, 20),
    "a byte of the footer": lambda path: flipped(path, -40),
    "its end": lambda path: flipped(path, -1),
}


@pytest.mark.by_turns("what")
@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("what", ["files", "row_files", "positions"])
def test_damage_is_an_error(what, damage, log, versions, tmp_path):
    """A row file or positions that are missing or damaged: no reader gives other rows, and no round continues."""
    lake = versions[0]
    copy = shutil.copytree(lake, tmp_path / "copy")
    entry = entry_of(copy)
    path = copy / getattr(entry, what)[0].path
    DAMAGE[damage](path)
    snapshot = applier.Snapshot(copy)
    table = snapshot.tables["shop.item"]
    for read in (lambda: table.to_arrow(), lambda: table.to_arrow(["id"]), lambda: pa.table(table),
                 lambda: applier.diff(tmp_path / "0", copy),
                 lambda: applier.replay(log[0], tmp_path / "onto", base=f"{copy}/_versions/3", stop=log[1][3])):
        with pytest.raises((SnapshotError, OSError)) as error:
            read()
        assert path.name in str(error.value)
    assert not os.path.exists(tmp_path / "onto")
    assert any(path.name in line for line in snapshot.verify().damaged)
    assert any(path.name in line for line in applier.fsck(copy).damaged)


def rewritten(version, change):
    """Change a manifest, and give it the digest that it has then."""
    path = Path(version, "_snapshot.json")
    document = json.loads(path.read_text())
    change(document["tables"][0])
    del document["digest"]
    document["digest"] = shards.own_digest(orjson.dumps(document))
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(("change", "what"), [
    (lambda table: table["files"][0].update(rows=table["files"][0]["rows"] + 1), "its manifest says"),
    (lambda table: table["row_files"].pop(), "its manifest says"),
    (lambda table: table["positions"].pop(), "its manifest says|two rows have one key"),
    (lambda table: [table.pop("row_files"), table.pop("positions")], "changes that nothing names"),
    (lambda table: table.update(key=[], key_kind=None, key_rules=[]), "no key|another kind"),
])
def test_a_manifest_that_does_not_agree(change, what, versions):
    """Counts of rows are compared with what is merged: a list of dead rows that is left out is no silent change."""
    lake, made, _ = versions
    rewritten(made[3].uri, change)
    with pytest.raises(SnapshotError, match=what):
        applier.Snapshot(lake).tables["shop.item"].to_arrow()


def test_files_to_merge_need_their_format_version(versions):
    made = versions[1]
    path = Path(made[3].uri, "_snapshot.json")
    document = json.loads(path.read_text()) | {"format_version": 3}
    del document["digest"]
    document["digest"] = shards.own_digest(orjson.dumps(document))
    path.write_text(json.dumps(document))
    with pytest.raises(SnapshotError, match="has files to merge, which format version 3 does not know"):
        applier.Snapshot(made[3].uri)
