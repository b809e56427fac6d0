"""Character sets and collations of the servers: names, ids in the log, defaults, and bytes per character.

The table is information_schema.collations of MySQL 9.7; MariaDB shares ids up to 255 and adds those of `_mariadb_id`.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from applier.mysql.versions import is_since

# The default collation of a character set where the servers differ, and a session does not say. MySQL before 8.0
# has utf8mb4_general_ci, too; MariaDB from 11.5 on has UCA 14's for all Unicode sets, which its sessions say.
DEFAULT_COLLATIONS = {"mysql": {"utf8mb4": "utf8mb4_0900_ai_ci"}, "mariadb": {"utf8mb4": "utf8mb4_general_ci"}}
_WITHOUT_CHARSET = "uca1400_"
"""How names of MariaDB's collations begin that apply to several character sets: they mean the set that they stand
beside."""


class Charset(NamedTuple):
    """A character set with one of its collations: the default of a server, a database or a table."""

    charset: str
    collation: str


DEFAULT = "default"
"""MariaDB's word in place of a character set's or collation's name."""


def charset_name(name: str) -> str:
    """A character set's canonical name: lower case, and utf8 (an alias on both servers) as utf8mb3."""
    name = name.lower()
    return "utf8mb3" if name == "utf8" else name


def is_charset(name: str) -> bool:
    """True if a server has a character set of this name."""
    return charset_name(name) in _charsets()


def collation_name(name: str) -> str:
    """A collation's canonical name, utf8_… as utf8mb3_…"""
    name = name.lower()
    return "utf8mb3" + name[4:] if name.startswith("utf8_") else name


def charset_of(collation: str) -> str | None:
    """The character set of a collation; None where the name alone does not say (MariaDB's uca1400_… forms)."""
    charset = collation_name(collation).partition("_")[0]
    return charset if charset in _charsets() else None


def collation_in(charset: str, collation: str) -> str:
    """The collation that a name means beside a character set."""
    return f"{charset}_{collation}" if collation.startswith(_WITHOUT_CHARSET) else collation


def default_collation(charset: str, defaults: Mapping[str, str]) -> str:
    """The collation of a character set that is named without one; KeyError for an unknown set.

    `defaults` has those of some character sets, of utf8mb4 at least: see DEFAULT_COLLATIONS.
    """
    return defaults[charset] if charset in defaults else _charsets()[charset][1]


def named_default(above: Charset) -> Charset:
    """Return the meaning of MariaDB's CHARACTER SET DEFAULT in a database or server with this character set: not the
    collation of that, nor that of character_set_collations, but the compiled-in one (seen on 10.11 and 11.8)."""
    return with_default(above.charset, DEFAULT_COLLATIONS["mariadb"])


def compiles_defaults(server_version: str) -> bool:
    """True if DEFAULT means what `named_default` says; before MariaDB 10.9 it means the character set and collation
    above, and ALTER DATABASE changes nothing by it (seen on 10.5)."""
    return not server_version or is_since(server_version, (10, 9))


def with_default(charset: str, defaults: Mapping[str, str]) -> Charset:
    """A character set with its default collation; KeyError for an unknown set."""
    charset = charset_name(charset)
    return Charset(charset, default_collation(charset, defaults))


def binary_collation(charset: str) -> str:
    """The collation that compares a character set's codes; `CHAR(9) BINARY` asks for it."""
    return "binary" if charset == "binary" else f"{charset}_bin"


def bytes_per_character(charset: str) -> int:
    """The most bytes that a character takes; KeyError for an unknown set."""
    return _charsets()[charset][0]


def by_id(collation_id: int) -> Charset:
    """The character set and collation of an id, as a QUERY event's context holds them; KeyError if unknown."""
    return _by_id()[collation_id] if collation_id < 1024 else _mariadb_id(collation_id)


def default_id(charset: str) -> int:
    """The id of a character set's default collation in MySQL; KeyError for an unknown set."""
    collation = default_collation(charset, DEFAULT_COLLATIONS["mysql"])
    return next(number for number, row in _by_id().items() if row.collation == collation)


def _mariadb_id(collation_id: int) -> Charset:
    """MariaDB's own: 1024 + n is collation n without padding; from 2048 on are UCA 14's, 256 ids a character set, of
    which each language has eight."""
    if collation_id < 2048:
        charset, collation = _by_id()[collation_id - 1024]
        head, _, tail = collation.rpartition("_")
        return Charset(charset, f"{head}_nopad_{tail}")
    charset = dict(enumerate(("utf8mb3", "utf8mb4", "ucs2", "utf16", "utf32")))[(collation_id - 2048) // 256]
    language, kind = _UCA_1400[collation_id % 256 // 8], collation_id % 8
    pads, accents, cases = "nopad_" * (kind >> 2), "as" if kind & 2 else "ai", "cs" if kind & 1 else "ci"
    return Charset(charset, f"{charset}_uca1400_{language}{pads}{accents}_{cases}")


@cache
def _charsets() -> dict[str, tuple[int, str]]:
    """{character set: (bytes a character takes at most, default collation)}"""
    return {words[0]: (int(words[1]), _full_name(words[0], words[2])) for words in _table_rows()}


@cache
def _by_id() -> dict[int, Charset]:
    found = {}
    for charset, _, *collations in _table_rows():
        for item in collations:
            found[int(item.partition(":")[0])] = Charset(charset, _full_name(charset, item))
    for charset, first in _UNICODE_FIRST.items():
        for number, suffix in enumerate(_UNICODE.split(), start=first):
            found[number] = Charset(charset, f"{charset}_{suffix}")
    return found


def _full_name(charset: str, item: str) -> str:
    suffix = item.partition(":")[2]
    return f"{charset}_{suffix}" if suffix else charset


def _table_rows() -> list[list[str]]:
    return [line.split() for line in _TABLE.replace("\n ", " ").strip().splitlines()]


# A line: the character set, the most bytes a character takes, and its collations as id:suffix, the default one first.
_TABLE = """
armscii8 1 32:general_ci 64:bin
ascii 1 11:general_ci 65:bin
big5 2 1:chinese_ci 84:bin
binary 1 63:
cp1250 1 26:general_ci 34:czech_cs 44:croatian_ci 66:bin 99:polish_ci
cp1251 1 51:general_ci 14:bulgarian_ci 23:ukrainian_ci 50:bin 52:general_cs
cp1256 1 57:general_ci 67:bin
cp1257 1 59:general_ci 29:lithuanian_ci 58:bin
cp850 1 4:general_ci 80:bin
cp852 1 40:general_ci 81:bin
cp866 1 36:general_ci 68:bin
cp932 2 95:japanese_ci 96:bin
dec8 1 3:swedish_ci 69:bin
eucjpms 3 97:japanese_ci 98:bin
euckr 2 19:korean_ci 85:bin
gb18030 4 248:chinese_ci 249:bin 250:unicode_520_ci
gb2312 2 24:chinese_ci 86:bin
gbk 2 28:chinese_ci 87:bin
geostd8 1 92:general_ci 93:bin
greek 1 25:general_ci 70:bin
hebrew 1 16:general_ci 71:bin
hp8 1 6:english_ci 72:bin
keybcs2 1 37:general_ci 73:bin
koi8r 1 7:general_ci 74:bin
koi8u 1 22:general_ci 75:bin
latin1 1 8:swedish_ci 5:german1_ci 15:danish_ci 31:german2_ci 47:bin 48:general_ci 49:general_cs 94:spanish_ci
latin2 1 9:general_ci 2:czech_cs 21:hungarian_ci 27:croatian_ci 77:bin
latin5 1 30:turkish_ci 78:bin
latin7 1 41:general_ci 20:estonian_cs 42:general_cs 79:bin
macce 1 38:general_ci 43:bin
macroman 1 39:general_ci 53:bin
sjis 2 13:japanese_ci 88:bin
swe7 1 10:swedish_ci 82:bin
tis620 1 18:thai_ci 89:bin
ucs2 2 35:general_ci 90:bin 159:general_mysql500_ci
ujis 3 12:japanese_ci 91:bin
utf16 4 54:general_ci 55:bin
utf16le 4 56:general_ci 62:bin
utf32 4 60:general_ci 61:bin
utf8mb3 3 33:general_ci 76:tolower_ci 83:bin 223:general_mysql500_ci
utf8mb4 4 255:0900_ai_ci 45:general_ci 46:bin 256:de_pb_0900_ai_ci 257:is_0900_ai_ci 258:lv_0900_ai_ci
  259:ro_0900_ai_ci 260:sl_0900_ai_ci 261:pl_0900_ai_ci 262:et_0900_ai_ci 263:es_0900_ai_ci 264:sv_0900_ai_ci
  265:tr_0900_ai_ci 266:cs_0900_ai_ci 267:da_0900_ai_ci 268:lt_0900_ai_ci 269:sk_0900_ai_ci 270:es_trad_0900_ai_ci
  271:la_0900_ai_ci 273:eo_0900_ai_ci 274:hu_0900_ai_ci 275:hr_0900_ai_ci 277:vi_0900_ai_ci 278:0900_as_cs
  279:de_pb_0900_as_cs 280:is_0900_as_cs 281:lv_0900_as_cs 282:ro_0900_as_cs 283:sl_0900_as_cs 284:pl_0900_as_cs
  285:et_0900_as_cs 286:es_0900_as_cs 287:sv_0900_as_cs 288:tr_0900_as_cs 289:cs_0900_as_cs 290:da_0900_as_cs
  291:lt_0900_as_cs 292:sk_0900_as_cs 293:es_trad_0900_as_cs 294:la_0900_as_cs 296:eo_0900_as_cs 297:hu_0900_as_cs
  298:hr_0900_as_cs 300:vi_0900_as_cs 303:ja_0900_as_cs 304:ja_0900_as_cs_ks 305:0900_as_ci 306:ru_0900_ai_ci
  307:ru_0900_as_cs 308:zh_0900_as_cs 309:0900_bin 310:nb_0900_ai_ci 311:nb_0900_as_cs 312:nn_0900_ai_ci
  313:nn_0900_as_cs 314:sr_latn_0900_ai_ci 315:sr_latn_0900_as_cs 316:bs_0900_ai_ci 317:bs_0900_as_cs
  318:bg_0900_ai_ci 319:bg_0900_as_cs 320:gl_0900_ai_ci 321:gl_0900_as_cs 322:mn_cyrl_0900_ai_ci
  323:mn_cyrl_0900_as_cs
"""

# UCA 4.0.0's collations have the same order in each Unicode character set, from an id of its own on.
_UNICODE = """
unicode_ci icelandic_ci latvian_ci romanian_ci slovenian_ci polish_ci estonian_ci spanish_ci swedish_ci turkish_ci
czech_ci danish_ci lithuanian_ci slovak_ci spanish2_ci roman_ci persian_ci esperanto_ci hungarian_ci sinhala_ci
german2_ci croatian_ci unicode_520_ci vietnamese_ci
"""
# The languages of UCA 14.0.0's by eighths of their ids; none has its own name.
_UCA_1400 = {number: f"{language}_" for number, language in enumerate("""
none icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak
spanish2 roman persian esperanto hungarian sinhala german2 unused unused vietnamese croatian
""".split()) if language != "unused"} | {0: ""}
_UNICODE_FIRST = {"utf16": 101, "ucs2": 128, "utf32": 160, "utf8mb3": 192, "utf8mb4": 224}
