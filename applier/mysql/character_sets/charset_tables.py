"""The mapping of character set codes to characters, as on the servers: tables of Unicode code points.

Most sets are one of Python's codecs except for a few codes, so that is how they are stored here: the codec, and the
differences. Each table was compared with those of MySQL 9.7 and MariaDB 10.11 over all codes; the two servers agree on
every code that is a character. In a table, UNMAPPED is a code that belongs to the set's structure and has no character,
and MALFORMED one that is not even that.
"""

import functools

import numpy as np

UNMAPPED = -1
MALFORMED = -2
# In `first`: the byte begins a character of two bytes, of three, or of two or four.
LEAD_2 = -3
LEAD_3 = -4
LEAD_2_OR_4 = -5

# Codes that differ from the codec: first code, then the characters of the codes from there on ("?": none).
_SINGLE_BYTE: dict[str, tuple[str, dict[int, str]]] = {
    "armscii8": ("latin_1", {0xA1: "❁§։)(»«—.՝,-՟…՜՛՞"
                                   "ԱաԲբԳգԴդԵեԶզԷէԸըԹթԺժԻիԼլԽխԾծԿկՀհՁձՂղՃճՄմՅյՆնՇշՈոՉչՊպՋջՌռՍսՎվՏտՐրՑցՒւՓփՔքՕօՖֆ’'"}),
    "ascii": ("ascii", {}),
    "cp1250": ("cp1250", {}),
    "cp1251": ("cp1251", {}),
    "cp1256": ("cp1256", {0x8A: "?", 0x8F: "?", 0x98: "?", 0x9A: "?", 0x9F: "?", 0xAA: "?", 0xC0: "?", 0xFF: "?"}),
    "cp1257": ("cp1257", {}),
    "cp850": ("cp850", {}),
    "cp852": ("cp852", {}),
    "cp866": ("cp866", {0xFC: "ⁿ²"}),
    "dec8": ("latin_1", {0xA4: "?", 0xA6: "?", 0xA8: "¤", 0xAC: "????", 0xB4: "?", 0xB8: "?", 0xBE: "?", 0xD0: "?",
                         0xD7: "Œ", 0xDD: "Ÿ?", 0xF0: "?", 0xF7: "œ", 0xFD: "ÿ??"}),
    "geostd8": ("latin_1", {0x80: "€?‚?„…†‡?‰?‹?????‘’“”•–—???›????",
                            0xC0: "აბგდევზჱთიკლმნჲოპჟრსტჳუფქღყშჩცძწჭხჴჯჰჵ???????????????????????№??"}),
    "greek": ("iso8859_7", {0xA1: "ʽʼ", 0xA4: "??", 0xAA: "?"}),
    "hebrew": ("iso8859_8", {0xAF: "‾"}),
    "hp8": ("hp_roman8", {}),
    "keybcs2": ("cp437", {0x80: "ČüéďäĎŤčěĚĹÍľĺÄÁÉžŽôöÓůÚýÖÜŠĽÝŘťáíóúňŇŮÔšřŕŔ¼¡«»", 0xED: "φ"}),
    "koi8r": ("koi8_r", {}),
    "koi8u": ("koi8_u", {0x95: "•"}),
    # cp1252, with the C1 controls where that has no character.
    "latin1": ("cp1252", {0x81: "\x81", 0x8D: "\x8d", 0x8F: "\x8f\x90", 0x9D: "\x9d"}),
    "latin2": ("iso8859_2", {}),
    "latin5": ("iso8859_9", {}),
    "latin7": ("iso8859_13", {}),
    "macce": ("mac_latin2", {}),
    "macroman": ("mac_roman", {}),
    "swe7": ("ascii", {0x40: "É", 0x5B: "ÄÖÅÜ", 0x60: "é", 0x7B: "äöåü?"}),
    "tis620": ("tis_620", {0xA0: "\ufffd", 0xDB: "\ufffd" * 4, 0xFC: "\ufffd" * 4}),
}
_PAIRS: dict[str, tuple[str, dict[int, str]]] = {
    "big5": ("big5", {0xA15A: "\ufffd", 0xA1C3: "\ufffd", 0xA1C5: "\ufffd", 0xA1FE: "\ufffd", 0xA240: "\ufffd",
                      0xA2CC: "\ufffd", 0xA2CE: "\ufffd", 0xF9D6: "碁銹裏墻恒粧嫺"}),
    "cp932": ("cp932", {}),
    "eucjpms": ("euc_jp", {
        0xA1C1: "～∥", 0xA1DD: "－", 0xA1F1: "￠￡", 0xA2CC: "￢",
        0xADA1: "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ?㍉㌔㌢㍍㌘㌧㌃㌶㍑㍗㌍㌦㌣㌫㍊㌻㎜㎝㎞㎎㎏㏄㎡",
        0xADDF: "㍻〝〟№㏍℡㊤㊥㊦㊧㊨㈱㈲㈹㍾㍽㍼≒≡∫∮∑√⊥∠∟⊿∵∩∪"}),
    "euckr": ("cp949", {}),
    "gb18030": ("gb18030", {0xA8BC: "ḿ"}),
    "gb2312": ("gb2312", {}),
    "gbk": ("gbk", {}),
    "sjis": ("shift_jis", {0x815F: "\\"}),
    "ujis": ("euc_jp", {0xA1C0: "\\"}),
}
# After the byte 0x8F.
_TRIPLES: dict[str, dict[int, str]] = {
    "eucjpms": {
        0xA2B7: "～", 0xA2C3: "￤", 0xF3F3: "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡ",
        # The compatibility ideographs are escaped: an editor that normalises text would make others of them.
        0xF4A1: "ⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤\ufa0e咊坙\ufa0f\ufa10增寬峵嵓\ufa11德悅愠敎昻晥\ufa12"
                "\uf929栁\ufa13\ufa14橫櫢淸淲瀨\ufa15\ufa16甁皂皞\ufa17礰\ufa18\ufa19\ufa1a\ufa1b竧\ufa1c"
                "\ufa1d綠緖\ufa1e荢\ufa1f薰\ufa20\ufa21蠇\ufa22譿賴赶\ufa23\ufa24\ufa25郞\ufa26鄕\ufa27\ufa28"
                "閒\uf9dc\ufa29霻靍靑\ufa2a\ufa2b\ufa2c馞髙魲\ufa2d黑"},
    "ujis": {},
}
# By their number in GB 18030's order. 81 35 F4 37 and A8 BC are swapped in the standard's edition of 2005.
_QUADS = {7457: "\ue7c7", 39417: "\ufffd"}

SINGLE_BYTE = frozenset(_SINGLE_BYTE)
MULTI_BYTE = frozenset(_PAIRS)


def multi_byte_codec(charset: str) -> str:
    """Python's codec for an East Asian set, which differs from the servers' tables in few characters."""
    return _PAIRS[charset][0]


@functools.cache
def single_byte_table(charset: str) -> np.ndarray:
    """The characters of an 8-bit set: int32[256] of code points or UNMAPPED."""
    codec, differences = _SINGLE_BYTE[charset]
    table = np.full(256, UNMAPPED, np.int32)
    for code in range(256):
        character = bytes([code]).decode(codec, "ignore")
        if character:
            table[code] = ord(character)
    return _with_differences(table, differences)


@functools.cache
def characters_of(charset: str) -> np.ndarray:
    """Which characters an East Asian set has: bool by code point."""
    has = np.zeros(0x110000, np.bool_)
    has[:0x80] = True
    for table in multi_byte_tables(charset):
        has[table[(table >= 0x80) & (table < len(has))]] = True
    has[0x10000:] |= charset == "gb18030"
    return has


@functools.cache
def multi_byte_tables(charset: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """How an East Asian set is read: (first, pairs, triples, quads), all int32 of code points or the marks above.

    `first` has 256 entries for a character's first byte, `pairs` 65,536 for both bytes of a character of two, `triples`
    as many for the bytes after 0x8F, `quads` one for each four-byte code of the BMP in GB 18030's order.
    """
    codec, differences = _PAIRS[charset]
    first = np.arange(256, dtype=np.int32)
    first[0x80:] = MALFORMED
    pairs = np.full(65536, MALFORMED, np.int32)
    triples, quads = np.empty(0, np.int32), np.empty(0, np.int32)
    leads, trails = _STRUCTURE[charset]
    first[leads] = LEAD_2
    rectangle = (leads[:, None] << 8 | trails[None, :]).ravel()
    codes = rectangle | 0x80 if charset == "gb2312" else rectangle  # its second byte's high bit does not count
    pairs[rectangle] = _decode(codec, [code.to_bytes(2) for code in codes.tolist()])
    if charset in ("cp932", "sjis"):
        first[0x80:] = LEAD_2  # whatever follows: the second byte is read before the first is judged
        first[0xA1:0xE0] = np.arange(0xFF61, 0xFFA0)  # half-width katakana
    if charset in _TRIPLES:
        first[0x8E], first[0x8F] = LEAD_2, LEAD_3
        pairs[0x8EA1:0x8EE0] = np.arange(0xFF61, 0xFFA0)
        triples = np.full(65536, MALFORMED, np.int32)
        triples[rectangle] = _decode(codec, [b"\x8f" + code.to_bytes(2) for code in codes.tolist()])
        _with_differences(triples, _TRIPLES[charset])
        triples[1:0x80] = np.arange(1, 0x80)  # a quirk of both servers: 8F 00 41 is "A"
        own = (np.arange(0xF5, 0xFF)[:, None] << 8 | trails).ravel()  # the user's own characters: private use area
        pairs[own] = 0xE000 + np.arange(940)
        triples[own] = 0xE3AC + np.arange(940)
    if charset == "gb18030":
        first[leads] = LEAD_2_OR_4
        quads = _decode(codec, [bytes([0x81 + n // 12600, 0x30 + n // 1260 % 10, 0x81 + n // 10 % 126, 0x30 + n % 10])
                                for n in range(39420)])
        _with_differences(quads, _QUADS)
    return first, _with_differences(pairs, differences), triples, quads


_HIGH, _ALL = np.arange(0xA1, 0xFF), np.arange(256)
_SHIFTED = np.r_[0x81:0xA0, 0xE0:0xFD], np.r_[0x40:0x7F, 0x80:0xFD]
# Which first bytes, and which second ones after them, make a character of two bytes, mapped or not. MySQL looks at the
# second byte of a few sets only when it looks the pair up: there any byte goes.
_STRUCTURE = {
    "big5": (np.arange(0x80, 256), _ALL),
    "euckr": (np.arange(0x80, 256), _ALL),
    "gb2312": (np.arange(0x80, 256), _ALL),
    "gbk": (np.arange(0x80, 256), _ALL),
    "cp932": _SHIFTED,
    "sjis": _SHIFTED,
    "eucjpms": (_HIGH, _HIGH),
    "ujis": (_HIGH, _HIGH),
    "gb18030": (np.arange(0x81, 0xFF), np.r_[0x40:0x7F, 0x80:0xFF]),
}


def _decode(codec: str, codes: list[bytes]) -> np.ndarray:
    """The character of each code, UNMAPPED where the codec has none."""
    # A line feed ends whatever a bad code leaves open, so that one call decodes them all.
    lines = b"\n".join(code if b"\n" not in code else b"\xff" for code in codes).decode(codec, "replace").split("\n")
    return np.array([ord(c) if len(c) == 1 and c != "\ufffd" else UNMAPPED for c in lines], np.int32)


def _with_differences(table: np.ndarray, differences: dict[int, str]) -> np.ndarray:
    for code, characters in differences.items():
        for at, character in enumerate(characters, code):
            table[at] = UNMAPPED if character == "?" else ord(character)
    return table
