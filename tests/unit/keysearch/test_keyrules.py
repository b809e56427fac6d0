"""Keys by the rules of their columns."""

import pyarrow as pa
import pytest

from keysearch.collation import equality_keys, weights_by_position
from keysearch.keybytes import encode_keys
from keysearch.keyrules import encode_by_rules, key_rule

CI = "utf8mb4_general_ci"


def encoded(columns, rules):
    keys = encode_by_rules(columns, rules)
    return [keys[row] for row in range(len(keys))]


@pytest.mark.parametrize("collation, prefix, rule", [
    (None, None, ""), (None, 3, "(3)"), (CI, None, CI), (CI, 10, f"{CI}(10)"), ("utf8mb4_0900_bin", None, ""),
    ("utf8mb4_bin", None, "utf8mb4_bin"), ("latin1_german1_ci", None, "latin1_german1_ci"),
    ("latin1_klingon_ci", None, ""), ("binary", 4, "(4)")])
def test_a_rule_is_a_text(collation, prefix, rule):
    assert key_rule(collation, prefix) == rule


def test_columns_by_their_rules():
    text, number = pa.array(["Ab", "aB ", "b"]), pa.array([1, 1, 2], pa.int8())
    assert encoded([text], [CI])[:2] == [equality_keys(pa.array(["ab"]), CI)[0]] * 2
    both = encoded([text, number], [CI, ""])
    assert both[0] == both[1] == encode_keys([equality_keys(pa.array(["ab"]), CI).to_arrow(), number[:1]])[0]
    assert encoded([text, number], []) == [encode_keys([text, number])[row] for row in range(3)]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()])
def test_a_prefix_is_of_characters(type_):
    text = pa.array(["äbcd", "ÄBx", "äb", "ä"], type_)
    first, second, third, short = encoded([text], [f"{CI}(2)"])
    assert first == second == third != short
    assert encoded([text], ["(2)"])[:3] == ["äb".encode(), "ÄB".encode(), "äb".encode()]


def test_a_prefix_of_bytes_is_of_bytes():
    assert encoded([pa.array([b"abc", b"abd", b"a"])], ["(2)"]) == [b"ab", b"ab", b"a"]


def test_longer_keys_do_not_run_into_each_other():
    left, right = pa.array(["a", "a\0", "A"]), pa.array(["b", "b", "B"])
    keys = encoded([left, right], [CI, CI])
    assert keys[0] == keys[2] != keys[1]


def test_chunks_and_nulls():
    chunked = pa.chunked_array([["a"], ["A", "b"]])
    assert len(set(encoded([chunked], [CI]))) == 2
    with pytest.raises(ValueError, match="NULLs"):
        encode_by_rules([pa.array(["a", None])], [CI])


@pytest.mark.parametrize(("collation", "level", "weights"), [
    ("utf8mb4_0900_ai_ci", 0, [(0x1C47, 0x1C47), (0x1CAA,)]), ("utf8mb4_0900_as_cs", 2, [(2, 2), (2,), (2,)]),
    ("utf8mb4_general_ci", 0, [(0x41, 0x41), (0x45,)]), ("latin1_swedish_ci", 0, [(0x41, 0x41), (0x45,)])])
def test_weights_of_a_level_are_a_servers(collation, level, weights):
    """As WEIGHT_STRING shows them, by position."""
    positions = [dict(zip(rows.tolist(), own.tolist(), strict=True))
              for rows, own in weights_by_position(pa.array(["a", "aé", None]), collation, level)]
    assert [tuple(one.values()) for one in positions] == weights


def test_weights_that_are_many_times_longer_than_their_texts():
    """One character is weighed as the eighteen letters of a phrase. The room grows while short texts are weighed."""
    phrase, short = "\ufdfa", "a"
    keys = encoded([pa.array([phrase] * 1000 + [short] * 12000)], ["utf8mb4_0900_ai_ci"])
    assert len(keys[0]) > 7 * len(phrase.encode()) and len(set(keys[:1000])) == 1
    assert set(keys[1000:]) == set(encoded([pa.array([short])], ["utf8mb4_0900_ai_ci"]))


def test_a_collation_of_bytes_has_no_weights():
    with pytest.raises(ValueError, match="without weights"):
        list(weights_by_position(pa.array(["a"]), "utf8mb4_bin"))


def test_thai_letters_are_compared_by_their_codes():
    """Consonants and the vowels behind them; a vowel that is written before its consonant counts after it."""
    letters = bytes([*range(0xA1, 0xCF), *range(0xD0, 0xDA)]).decode("tis-620")
    keys = encoded([pa.array([letters, *letters, "เก", "โข"])], ["tis620_thai_ci"])
    assert keys[0] == letters.encode("tis-620") and keys[1:-2] == [letter.encode("tis-620") for letter in letters]
    assert keys[-2:] == ["กเ".encode("tis-620"), "ขโ".encode("tis-620")]


def test_thai_signs_count_after_all_letters():
    """And the less the more consonants are before them."""
    texts = ["ก่ขค", "กข่ค", "กขค"]
    keys = encoded([pa.array(texts)], ["tis620_thai_ci"])
    letters = "กขค".encode("tis-620")
    assert keys == [letters + b"\xf3", letters + b"\xeb", letters]
