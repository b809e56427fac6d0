"""Character sets and collations as the servers list them."""

import json
from pathlib import Path

import pytest

from applier.engine.executor import ThisProcess
from applier.jobs.replay.job import replay_with
from applier.mysql.character_sets.collations import (
    DEFAULT_COLLATIONS,
    Charset,
    by_id,
    bytes_per_character,
    charset_name,
    charset_of,
    collation_name,
    default_collation,
    with_default,
)
from applier.options import ReplayOptions
from applier.snapshot import manifest

MARIADB_11 = Path(__file__).with_name("mariadb_11")


@pytest.mark.parametrize(("number", "expected"), [
    (8, ("latin1", "latin1_swedish_ci")),
    (33, ("utf8mb3", "utf8mb3_general_ci")),
    (45, ("utf8mb4", "utf8mb4_general_ci")),
    (63, ("binary", "binary")),
    (101, ("utf16", "utf16_unicode_ci")),
    (213, ("utf8mb3", "utf8mb3_croatian_ci")),
    (247, ("utf8mb4", "utf8mb4_vietnamese_ci")),
    (255, ("utf8mb4", "utf8mb4_0900_ai_ci")),
    (323, ("utf8mb4", "utf8mb4_mn_cyrl_0900_as_cs")),
    (1069, ("utf8mb4", "utf8mb4_general_nopad_ci")),
    (1070, ("utf8mb4", "utf8mb4_nopad_bin")),
    (2304, ("utf8mb4", "utf8mb4_uca1400_ai_ci")),
    (2305, ("utf8mb4", "utf8mb4_uca1400_ai_cs")),
    (2308, ("utf8mb4", "utf8mb4_uca1400_nopad_ai_ci")),
    (2314, ("utf8mb4", "utf8mb4_uca1400_icelandic_as_ci")),
    (2048, ("utf8mb3", "utf8mb3_uca1400_ai_ci")),
    (3271, ("utf32", "utf32_uca1400_croatian_nopad_as_cs")),
])
def test_ids(number, expected):
    assert by_id(number) == expected


@pytest.mark.parametrize("number", [0, 100, 1000, 2472, 2504, 9999])
def test_unknown_ids(number):
    with pytest.raises(KeyError):
        by_id(number)


def test_names_and_defaults():
    assert charset_name("UTF8") == "utf8mb3"
    assert collation_name("utf8_bin") == "utf8mb3_bin"
    assert charset_of("utf8_bin") == "utf8mb3"
    assert charset_of("binary") == "binary"
    assert charset_of("uca1400_ai_ci") is None
    assert default_collation("utf8mb4", DEFAULT_COLLATIONS["mariadb"]) == "utf8mb4_general_ci"
    assert with_default("UTF8", DEFAULT_COLLATIONS["mysql"]) == Charset("utf8mb3", "utf8mb3_general_ci")
    assert with_default("utf8", {"utf8mb3": "utf8mb3_bin"}) == Charset("utf8mb3", "utf8mb3_bin")
    assert [bytes_per_character(name) for name in ("latin1", "gbk", "utf8mb3", "gb18030")] == [1, 2, 3, 4]
    with pytest.raises(KeyError):
        with_default("klingon", DEFAULT_COLLATIONS["mysql"])


def test_what_mariadb_11_takes_character_sets_for(tmp_path):
    """EV-CTX: its sessions say what a character set means without a collation: `SET character_set_collations`, with
    uca1400_ai_ci for all Unicode sets from 11.5 on. Names of collations without a character set are of that which they
    stand beside. Recorded from MariaDB 11.8.9; what the columns are is from its information_schema."""
    replay_with(ThisProcess(), ReplayOptions((str(MARIADB_11 / "binlog.000001"),), str(tmp_path / "out")))
    held = [[table.database, table.name, column.name, column.type.collation]
            for table in manifest.load(str(tmp_path / "out")).tables for column in table.definition.columns]
    assert sorted(held) == sorted(json.loads((MARIADB_11 / "collations.json").read_text()))
