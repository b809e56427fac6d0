"""Decodes statements by the character set of the client that sent them."""

from applier.mysql.character_sets.collations import default_id

CLIENT_CODECS = {
    collation: codec
    for codec, collations in {
        "cp1252": (5, 8, 15, 31, 47, 48, 49, 94), "gbk": (28, 87), "gb18030": (248, 249, 250), "gb2312": (24, 86),
        "big5": (1, 84), "shift_jis": (13, 88), "cp932": (95, 96), "euc_jp": (12, 91, 97, 98), "euc_kr": (19, 85),
        "cp1250": (26, 34, 44, 66, 99), "cp1251": (14, 23, 50, 51, 52), "cp1256": (57, 67), "cp1257": (29, 58, 59),
        "cp850": (4, 80), "cp852": (40, 81), "cp866": (36, 68), "koi8_r": (7, 74), "koi8_u": (22, 75),
        "iso8859_2": (2, 9, 21, 27, 77), "iso8859_7": (25, 70), "iso8859_8": (16, 71), "iso8859_9": (30, 78),
        "tis_620": (18, 89),
    }.items()
    for collation in collations
}  # fmt: skip
"""Codecs of the character sets that a client may use, by the ids of their collations. The others are forms of UTF-8 or
ASCII."""


def codec_of(charset: str) -> str:
    """The codec of a client's character set, by its name."""
    try:
        return CLIENT_CODECS.get(default_id(charset), "utf-8")
    except KeyError:
        return "utf-8"
