"""Random families of tables with foreign keys, judged by real servers.

As `python -m tests.recorded.differential.families`:

    check FIRST LAST URL…    compare the seeds of a range, keep what differs
    record URL=FIRST-LAST…   write families_recorded.tar.xz, which tests replay

URLs, databases and folders are those of ddl_histories.py. A MySQL server whose log has no rows of cascades is one with
--innodb-native-foreign-keys=ON.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.recorded.differential.ddl_histories import check, record_all
from tests.recorded.differential.made_families import Family

STEPS_A_ROUND = 4
RECORDED = Path(__file__).parent / "families_recorded.tar.xz"

if __name__ == "__main__":
    if sys.argv[1:2] == ["check"] and len(sys.argv) > 4:
        sys.exit(bool(check(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:], Family, STEPS_A_ROUND)))
    if sys.argv[1:2] == ["record"] and len(sys.argv) > 2:
        sys.exit(record_all(sys.argv[2:], Family, STEPS_A_ROUND, RECORDED))
    sys.exit(__doc__)
