"""Equal bytes are equal strings by the collation, as MySQL 9.7 and MariaDB 10.11 said (record_collations.py)."""

import functools
import gzip
import hashlib
import itertools
import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.mysql.character_sets.collations import by_id
from keysearch.collation import collation_of, equality_column, equality_keys, is_exact, is_ordered
from keysearch.collation_tables import collation_index, weight_table
from keysearch.keybytes import encode_keys
from tests.recorded.keysearch import record_collations as recorded
from tests.support.examples import examples

TRUTH = json.loads(gzip.decompress(recorded.TRUTH.read_bytes()))
KINDS = ["utf8mb4_0900_ai_ci", "utf8mb4_uca1400_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci",
         "latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_0900_bin"]

N_MARIADB = 1242
OF_OLD = {"utf8mb4_0900_ai_ci": "b7b45d61a586", "utf8mb4_general_ci": "e667e54100da",
          "utf8mb4_unicode_ci": "61b9fe75bc97", "utf8mb4_unicode_520_ci": "3cba0aed8b54",
          "utf8mb4_uca1400_ai_ci": "e307c60ebdd2", "latin1_swedish_ci": "c3f3c50956b6",
          "ascii_general_ci": "d88c9e07cb74", "utf8mb4_bin": "6e6cb3b7e9fd"}


def keys_of(texts, collation):
    keys = equality_keys(pa.array(texts, pa.string()), collation)
    return [keys[row] for row in range(len(keys))]


@functools.cache
def characters(*points):
    return pa.array(list(map(chr, points)))


def digest(keys, flavour, collation):
    """Of the weights that keys are made of, as the recorder takes it."""
    if collation.startswith(("latin1", "ascii")):
        return hashlib.sha256(keys.offsets[1:].tobytes() + keys.data.tobytes()).hexdigest()
    [table] = collation_index()[recorded.kind_of(collation, flavour)]
    codes = weight_table(table).codes
    at, weights, rows = keys.offsets[:-1].copy(), [], []
    while (left := np.flatnonzero(at < keys.offsets[1:])).size:
        lead, high, low = (np.take(keys.data, at[left] + i, mode="clip").astype(np.uint32) for i in range(3))
        is_short = lead & 1 == 1
        short = np.zeros(256, np.uint32)
        short[codes[codes >> 24 == 1] & 0xFF] = np.flatnonzero(codes >> 24 == 1)
        weights.append(np.where(is_short, short[lead], high << 8 | low))
        rows.append(left)
        at[left] += np.where(is_short, 1, 3)
    rows, weights = np.concatenate(rows), np.concatenate(weights)
    ends = np.cumsum(np.bincount(rows, minlength=len(keys))) * 2
    return hashlib.sha256(ends.astype(np.int64).tobytes()
                          + weights[np.argsort(rows, kind="stable")].astype(">u2").tobytes()).hexdigest()


@pytest.mark.parametrize("name", ["0900.1", "general_ci", "unicode_ci", "unicode_520_ci", "uca1400.1", "ja_0900.1",
                                  "zh_0900.1", "uca1400_danish.2", "gb2312_chinese_ci"])
def test_codes_are_weights_in_another_form(name):
    """They sort as weights do, none begins another one, and those of ASCII are short."""
    table = weight_table(name)
    codes = [int(code).to_bytes(4, "little")[:code >> 24] for code in table.codes]
    assert all(a < b and not b.startswith(a) for a, b in itertools.pairwise(codes))
    assert set((table.entries[:128] >> 24).tolist()) <= {0, 1}


@pytest.mark.parametrize("collation", ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"])
def test_a_key_of_ascii_is_as_long_as_the_text(collation):
    assert len(keys_of(["Customer-00042"], collation)[0]) == 14


@pytest.mark.parametrize("server", TRUTH["digests"])
def test_every_character_has_the_weights_that_the_server_gives_it(server):
    """The whole of Unicode, or of the character set."""
    flavour, collation = server.split()
    keys = equality_keys(characters(*recorded.points_of(collation)), collation)
    assert digest(keys, flavour, collation) == TRUTH["digests"][server]


@pytest.mark.parametrize("server", TRUTH["joined"])
def test_characters_of_any_kind_together(server):
    """All of these but UCA 14's have no contractions: what strings weigh is what their characters weigh alone."""
    texts = recorded.joined()
    flavour, collation = server.split()
    assert digest(equality_keys(pa.array(texts), collation), flavour, collation) == TRUTH["joined"][server]


@pytest.mark.parametrize("server", TRUTH["contracted"])
def test_characters_that_weigh_something_else_together(server):
    """UCA 14's contractions: of vowel signs with letters, vowels that stand before their consonant, accents."""
    flavour, collation = server.split()
    keys = equality_keys(pa.array(recorded.contracted()), collation)
    assert digest(keys, flavour, collation) == TRUTH["contracted"][server]


def test_contractions_end_where_the_text_does():
    """The longest one is taken, and none reaches into the next string or over what is no character."""
    alone = keys_of(["\u0418", "\u0306", "\u0418\u0306", "\u0419", "x", "x\u0418"], "utf8mb4_uca1400_ai_ci")
    assert alone[2] == alone[3] != alone[0] and alone[1] == b""
    assert keys_of(["x\u0418", "\u0306"], "utf8mb4_uca1400_ai_ci") == [alone[4] + alone[0], b""] == [alone[5], b""]
    cut = pa.array(["\u0418".encode() + b"\xcc", "\u0418".encode() + b"\xcc\x86"], pa.binary())
    keys = equality_keys(cut, "utf8mb4_uca1400_ai_ci")
    assert keys[0].startswith(alone[0]) and keys[1] == alone[2]


@pytest.mark.parametrize("server", TRUTH["equal"])
def test_strings_are_equal_where_the_server_says_so(server):
    """`a = b COLLATE …` of 9,000 pairs that may be."""
    collation, said = server.split()[1], TRUTH["equal"][server]
    left, right = (keys_of([pair[side] for pair in TRUTH["pairs"]], collation) for side in (0, 1))
    wrong = [pair for pair, a, b, same in zip(TRUTH["pairs"], left, right, said, strict=True)
             if same != "." and (a == b) != (same == "=")]
    assert wrong == []
    assert said.count("=") > 100 and said.count("<") + said.count(">") > 100


@pytest.mark.by_turns(one_in=2)
@pytest.mark.parametrize("kind", TRUTH["own pairs"])
def test_every_collation_of_the_servers(kind):
    """`a = b COLLATE …` and `a < b …` of pairs that may be equal, of characters that are special to it; a unique key
    said the same. Strings that continue where the other one ends are compared with a space, so their keys may not sort
    so.
    """
    pairs = TRUTH["own pairs"][kind]
    for server, said in TRUTH["own equal"].items():
        flavour, name = server.split()
        if TRUTH["kinds"][server] == kind:
            collation = collation_of(name, flavour)
            left, right = (keys_of([pair[side] for pair in pairs], collation) for side in (0, 1))
            sorts = is_ordered(collation) and not collation.endswith("bin")
            wrong = [(pair, which) for pair, a, b, which in zip(pairs, left, right, said, strict=True)
                     if which != "." and ((a == b) != (which == "=") or (
                         which != "=" and sorts and (a < b) != (which == "<") and min("".join(pair)) >= " "
                         and not a.startswith(b) and not b.startswith(a)))]
            assert (server, wrong) == (server, [])


def test_no_collation_of_a_server_is_unknown():
    """Those that MySQL 9.7 and MariaDB 10.11 list, and those of UCA 14 whose numbers the log may have."""
    names = [server.split() for server in TRUTH["own equal"]]
    assert (len([1 for flavour, _ in names if flavour == "mysql"]), len(names)) == (286, 286 + N_MARIADB)
    by_number = []
    for number in range(2048, 2048 + 5 * 256):
        try:
            by_number.append(by_id(number).collation)
        except KeyError:
            continue
    assert len(by_number) == 5 * 23 * 8
    known = [*(collation_of(name, flavour) for flavour, name in names), *by_number, "utf8_general_ci", "utf8_bin",
             "UTF8MB4_GENERAL_CI"]
    assert [name for name in known if not is_exact(name)] == []


@pytest.mark.parametrize("collation", ["utf8mb4_klingon_ci", "latin1_klingon_ci", "klingon", "latin1_danish_nopad_cs",
                                       "latin1_unicode_ci", ""])
def test_other_collations_have_no_keys(collation):
    """Of them it is only known that equal bytes are equal."""
    assert not is_exact(collation)
    with pytest.raises(ValueError, match="is not a known collation"):
        keys_of(["a", "A", "a "], collation)
    texts = pa.array(["a", None])
    assert equality_column(texts, collation) is texts


def test_collations_of_the_same_name_that_are_not_the_same():
    """MySQL's croatian_ci is an older one, which MariaDB has under another name; its euckr_korean_ci takes characters
    for equal whose second bytes are letters of ASCII in either case."""
    assert collation_of("utf8mb4_croatian_ci", "mysql") == "utf8mb4_croatian_mysql561_ci"
    assert collation_of("utf8mb4_croatian_ci", "mariadb") == "utf8mb4_croatian_ci"
    assert [len(set(keys_of(["밶", "밃"], collation_of("euckr_korean_ci", flavour))))
            for flavour in ("mysql", "mariadb")] == [1, 2]


def test_signs_of_length_at_the_beginning():
    """MySQL weighs one by the character before it; from the second level on, that is the last one for the first."""
    for collation in ("utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks"):
        keys = keys_of(["ーで", "ーて\u3099", "で", "て\u3099", "ーﾃ", "ーテ", "ー", ""], collation)
        assert keys[0] != keys[1] and keys[2] == keys[3] and keys[4] == keys[5] and len(set(keys)) == 6


def test_a_base_is_in_the_order_of_its_keys():
    """The keys of collations by which tables of older snapshots are ordered: those stay as they are."""
    texts = ["Customer 7", "ß\u0130Ⅷ", "и\u0306 ", "一\U00020000\ufdfa", "\U0001F600", ""]
    found = {collation: hashlib.sha256(b"|".join(keys_of(texts, collation))).hexdigest()[:12] for collation in OF_OLD}
    assert found == OF_OLD


@settings(max_examples=examples(60))
@given(st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=8),
       st.integers(0, 3), st.sampled_from(KINDS), st.sampled_from([pa.string(), pa.large_string()]))
def test_a_column_is_its_strings(texts, cut, collation, type_):
    """However it lies in memory; NULLs stay NULL in a longer key."""
    column = pa.array(texts, type_)[cut:]
    keys = equality_keys(column, collation)
    assert [keys[row] for row in range(len(keys))] == [keys_of([text or ""], collation)[0] for text in texts[cut:]]
    part = equality_column(column, collation)
    assert part.is_null().to_pylist() == [text is None for text in texts[cut:]]
    parts = encode_keys([part, pa.array([7] * len(part), pa.int8())], [True, False])
    assert [parts[row] for row in range(len(parts))] == [
        encode_keys([pa.array([None if text is None else key], pa.binary()), pa.array([7], pa.int8())],
                    [True, False])[0]
        for text, key in zip(texts[cut:], (keys[row] for row in range(len(keys))), strict=True)]


def test_more_weights_than_bytes():
    """One character may weigh as much as eight: the keys need more room than was guessed."""
    texts = ["\ufdfa" * n for n in (1, 300, 1)] * 20
    assert [len(key) for key in keys_of(texts, "utf8mb4_0900_ai_ci")] == [22, 6600, 22] * 20


@settings(max_examples=examples(200))
@given(st.lists(st.binary(max_size=9), min_size=1, max_size=4), st.sampled_from(KINDS))
def test_bytes_that_are_no_text(values, collation):
    """Nothing is read beyond a string's end, whatever it holds, and nothing is lost."""
    column = pa.array(values, pa.binary())
    keys = equality_keys(column, collation)
    alone = [equality_keys(pa.array([value], pa.binary()), collation)[0] for value in values]
    assert [keys[row] for row in range(len(values))] == alone


@pytest.mark.parametrize("collation", ["utf8mb4_0900_ai_ci", "utf8mb4_general_ci"])
def test_malformed_text_is_not_taken_for_other_text(collation):
    values = [b"a", b"a\x80", b"a\xc3", b"a\xc3\x28", b"a\xf4\x90\x80\x80", b"a\xed\xa0\x80", b"\xffa", b"a\xff"]
    keys = equality_keys(pa.array(values, pa.binary()), collation)
    assert len({keys[row] for row in range(len(values))}) == len(values)


def test_columns_that_have_no_collation():
    with pytest.raises(TypeError, match="neither text nor bytes"):
        equality_keys(pa.array([1]), "utf8mb4_bin")
