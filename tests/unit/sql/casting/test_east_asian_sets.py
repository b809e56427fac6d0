"""Text that becomes an East Asian character set: recorded by CONVERT(CONVERT(t USING …) USING utf8mb4) of every
character of the BMP, on MySQL 9.7 and MariaDB 10.5 and 10.11, which agree."""

import pyarrow as pa
import pytest

from applier.mysql.character_sets.charset_tables import characters_of
from applier.sql.casting.texts import in_charset

KEPT = {"big5": 13711, "cp932": 9269, "eucjpms": 15054, "euckr": 17048, "gb18030": 63360, "gb2312": 7445, "gbk": 21791,
        "sjis": 6941, "ujis": 14887}
"""How many characters from U+0080 to U+FFFF come back as they were."""


@pytest.mark.parametrize("charset", KEPT)
def test_sets_have_the_characters_that_servers_keep(charset):
    assert characters_of(charset)[0x80:0x10000].sum() == KEPT[charset]


@pytest.mark.parametrize(("charset", "text", "made"), [
    ("ujis", "日本 é 中 ﾊﾝ", "日本 é 中 ﾊﾝ"), ("sjis", "日本 é", "日本 ?"), ("big5", "中国", "中?"),
    ("euckr", "한국", "한국"), ("gbk", "中😀", "中?"), ("gb18030", "中😀", "中😀"), ("gb2312", "Ж한", "Ж?"),
    ("cp932", "晡晙", "晙晙"), ("eucjpms", "", "")])
def test_what_a_set_lacks_becomes_a_question_mark(charset, text, made):
    values = pa.array(["long before", None, text, "é", text])[1:]
    alone = in_charset(pa.array(["é"]), charset)[0].as_py()
    assert in_charset(values, charset).to_pylist() == [None, made, alone, made]
