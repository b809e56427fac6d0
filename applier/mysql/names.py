"""How servers compare names without regard to case: of columns, indexes, partitions and constraints, and of databases
and tables where lower_case_table_names says so.

Letters are equal if one is the other in lower case, in utf8mb3_general_ci's tables, which know Unicode 3: letters with
other accents are different, and so are ß and ss, σ and ς, ı and i. Recorded from MySQL 9.7 and MariaDB 10.5 and 10.11;
MariaDB 11.8 differs in a few letters (docs/LIMITS.md).
"""

from unicodedata import ucd_3_2_0 as unicode_3


def folded(name: str) -> str:
    """Return the name in the form in which it is compared: in lower case, letter by letter."""
    return name.lower() if name.isascii() else "".join(map(_lower, name))


def _lower(letter: str) -> str:
    lower = letter.lower()[0]
    return letter if "Cn" in (unicode_3.category(letter), unicode_3.category(lower)) else lower
