"""Character sets and collations as the servers list them."""

import pytest

from applier.schema.collations import (
    Charset,
    by_id,
    bytes_per_character,
    charset_name,
    charset_of,
    collation_name,
    default_collation,
    with_default,
)


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
])
def test_ids(number, expected):
    assert by_id(number) == expected


@pytest.mark.parametrize("number", [0, 100, 1000, 2305, 9999])
def test_unknown_ids(number):
    with pytest.raises(KeyError):
        by_id(number)


def test_names_and_defaults():
    assert charset_name("UTF8") == "utf8mb3"
    assert collation_name("utf8_bin") == "utf8mb3_bin"
    assert charset_of("utf8_bin") == "utf8mb3"
    assert charset_of("binary") == "binary"
    assert charset_of("uca1400_ai_ci") is None
    assert default_collation("utf8mb4", "utf8mb4_general_ci") == "utf8mb4_general_ci"
    assert with_default("UTF8", "utf8mb4_0900_ai_ci") == Charset("utf8mb3", "utf8mb3_general_ci")
    assert [bytes_per_character(name) for name in ("latin1", "gbk", "utf8mb3", "gb18030")] == [1, 2, 3, 4]
    with pytest.raises(KeyError):
        with_default("klingon", "utf8mb4_0900_ai_ci")
