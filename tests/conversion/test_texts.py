"""Text in other character sets, and as dates: whole columns at once, what single values give."""

import pyarrow as pa
import pytest

from applier.conversion import temporal_texts
from applier.conversion.texts import SINGLE_BYTE, encoded, in_charset
from applier.conversion.values import SHOWN, convert_values
from applier.schema.ddl import parse_statement
from applier.sql.session import Session

KNOWN = pa.array(["none", "naïve", None, "", "café ﬁ 日本", "Ωμέγα", "Жук", "é"])[1:]


@pytest.mark.parametrize(("charset", "expected"), [
    ("latin1", ["naïve", None, "", "café ? ??", "?????", "???", "é"]),
    ("greek", ["na?ve", None, "", "caf? ? ??", "Ωμέγα", "???", "?"]),
    ("cp1251", ["na?ve", None, "", "caf? ? ??", "?????", "Жук", "?"]),
    ("utf8mb3", ["naïve", None, "", "café ﬁ 日本", "Ωμέγα", "Жук", "é"])])
def test_what_a_set_does_not_have_is_a_question_mark(charset, expected):
    """MySQL manual, "The CHAR and VARCHAR Types": ALTER … CHARACTER SET outside of strict mode."""
    assert in_charset(KNOWN, charset).to_pylist() == expected


@pytest.mark.parametrize("charset", sorted(SINGLE_BYTE))
def test_bytes_and_text_are_each_others(charset):
    """Of the servers' own tables: each byte that is a character comes back, "?" for those that are none."""
    from applier.binlog.charsets import to_utf8

    texts = to_utf8(pa.array([bytes([code]) for code in range(256)], pa.binary()), charset)
    assert to_utf8(encoded(texts, charset, "strict"), charset).equals(texts)


def test_dates_in_their_usual_form_are_read_as_others_are(monkeypatch):
    """Each value by itself, and all at once where they are as servers write them: the same moments."""
    texts = pa.array(["2024-02-28", "2024-02-29", "2023-02-29", "1969-12-31 23:59:59.5", "2024-04-30 00:00:00", None,
                      "2024-04-31", "9999-12-31 23:59:59.999999", "0001-01-01", "1000-01-01 10:11:12.1", "2024-1-2",
                      "2024-12-31 24:00:00"[:10], "2024-00-05 10:00:00"])
    definition = parse_statement("CREATE TABLE d.t (v DATETIME(3))")[0].definition
    session = Session(definition.flavour, "", "+00:00")
    at_once = convert_values(texts, SHOWN, definition.columns[0].type, session)
    monkeypatch.setattr(temporal_texts, "_USUAL", "^$")
    assert convert_values(texts, SHOWN, definition.columns[0].type, session).equals(at_once)
    assert at_once.null_count == 1
