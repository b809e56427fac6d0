"""UPPER and LOWER as real servers compute them, letter by letter, in every character set: letter_cases.jsonl.gz, by
record_letter_cases.py."""

import gzip
import json

import pyarrow as pa
import pytest

from applier.errors import NotComputable
from applier.mysql.session import Session
from applier.mysql.types import ColumnType
from applier.sql.evaluator import evaluate
from tests.recorded.charsets.record_letter_cases import CODES, RECORDED
from tests.support.folders import RECORDED as FOLDERS

LINES = [json.loads(line) for line in gzip.open(FOLDERS / "charsets" / RECORDED.name, "rt", encoding="utf-8")]
REFUSED = {"latin2_czech_cs", "cp1250_czech_cs", "gb18030_chinese_ci"}
"""Collations with tables of their own."""
SHORT = "ȿɀɐɑɒɜɡɥɦɪɫɬɱɽʇʝʞȺȾ"
"""Letters that need more bytes in the other case: MySQL cuts text off there."""


BY_SERVER = {("mariadb" if "MariaDB" in line["server"] else "mysql", line["collations"][0], line["server"][:7]): line
             for line in LINES}


@pytest.mark.by_turns("version", one_in=2)
@pytest.mark.parametrize(("flavour", "first_collation", "version"), sorted(BY_SERVER))
def test_each_letter_becomes_what_a_server_makes_of_it(flavour: str, first_collation: str, version: str) -> None:
    """Every day on one version of each flavour."""
    line, refused = BY_SERVER[flavour, first_collation, version], SHORT if flavour == "mysql" else ""
    for function in ("upper", "lower"):
        pairs = line[function]
        changed = dict(zip(pairs[::2], pairs[1::2], strict=True))
        letters = _letters_of(line["charset"], changed, refused)
        expected = [changed.get(letter, letter) for letter in letters]
        for collation in line["collations"]:
            if collation in REFUSED:
                with pytest.raises(NotComputable):
                    _evaluated(function, letters, line["charset"], collation, flavour)
                continue
            made = _evaluated(function, letters, line["charset"], collation, flavour)
            wrong = [found for found in zip(letters, made, expected, strict=True) if found[1] != found[2]]
            assert wrong == []


def test_letters_are_refused_that_depend_on_an_unknown_collation() -> None:
    columns = {"c": (pa.array(["ɐ"]), ColumnType("varchar", length=9, charset="utf8mb4"))}
    with pytest.raises(NotComputable, match="the case of 'ɐ', in which servers differ"):
        evaluate("UPPER(c)", columns.__getitem__, 1, Session("mariadb"))
    with pytest.raises(NotComputable, match="the case of 'ɐ', which is longer"):
        _evaluated("upper", ["ɐ"], "utf8mb4", "utf8mb4_0900_ai_ci", "mysql")


def _letters_of(charset: str, changed: dict[str, str], refused: str) -> list[str]:
    """The characters that a line is of, without those that are refused."""
    from applier.mysql.character_sets.charset_tables import MULTI_BYTE, SINGLE_BYTE
    from applier.mysql.character_sets.labels import characters_of

    known = characters_of(charset) if charset in SINGLE_BYTE | MULTI_BYTE else None
    highest = 0xFFFF if charset in ("utf8mb3", "ucs2") else 0x20000
    return [chr(code) for code in CODES if chr(code) not in refused and code <= highest
            and (known is None or code in known or chr(code) in changed)]


def _evaluated(function: str, letters: list[str], charset: str, collation: str, flavour: str) -> list[str]:
    kind = ColumnType("varchar", length=9, charset=charset, collation=collation)
    return evaluate(f"{function.upper()}(c)", lambda _: (pa.array(letters), kind), len(letters),
                    Session(flavour)).values.to_pylist()
