"""What real servers answered to the statements of `applier verify --sql`, in the states of recorded cases.

The keys: the case, and "crc32", "sha2" (sums) or "rows" (the rows of all ranges, by CRC32). In the states of RANGED
cases ranges are of RANGED_ROWS rows.
"""

import json
import lzma
from pathlib import Path

CASES = (
    "generated-columns-mariadb", "generated-columns-mysql", "mariadb-types", "mariadb-types-text", "mysql-charsets",
    "mysql-types-json", "mysql-types-number-time", "mysql-types-text", "zero-dates-mariadb", "zero-dates-mysql",
)
"""All types of both servers, text in all character sets, dates that are none, generated columns."""
RANGED = ("key-moves-full", "mariadb-row-image-full", "row-image-full")
"""Keys of all kinds of columns, and none."""
RANGED_ROWS = 3
TRUTH = Path(__file__).with_name("answers.json.xz")


def answers() -> dict[str, dict[str, str]]:
    """All of them."""
    with lzma.open(TRUTH, "rt", encoding="utf-8") as file:
        return dict(json.load(file))
