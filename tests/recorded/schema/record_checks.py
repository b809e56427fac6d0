"""Records what real servers make of CHECK constraints and of options of tables and keys, in random ALTERs:
`python -m tests.recorded.schema.record_checks URL…`. checks.jsonl.gz is as alters.jsonl.gz (record_alters).
"""

import sys
from pathlib import Path

from tests.recorded.schema.record_alters import Maker, record, write

RECORDED = Path(__file__).parent / "checks.jsonl.gz"
TABLES = 25
OPTIONS = ["COMMENT='it''s; ä'", "COMMENT ''", "ROW_FORMAT=COMPRESSED KEY_BLOCK_SIZE=8", "ROW_FORMAT = dynamic",
           "ROW_FORMAT=DEFAULT", "MAX_ROWS=1000", "MAX_ROWS 0", "MIN_ROWS = 10", "AVG_ROW_LENGTH=7", "CHECKSUM=1",
           "CHECKSUM=0", "DELAY_KEY_WRITE=1", "PACK_KEYS=0", "PACK_KEYS=DEFAULT", "STATS_PERSISTENT=0",
           "STATS_PERSISTENT=1", "STATS_PERSISTENT=DEFAULT", "STATS_AUTO_RECALC=1", "STATS_SAMPLE_PAGES=30",
           "STATS_SAMPLE_PAGES=DEFAULT"]
OWN = {"mysql": ["COMPRESSION='zlib'", "COMPRESSION='none'", "ENCRYPTION='n'"],
       "mariadb": ["TRANSACTIONAL=0", "PAGE_COMPRESSED=1", "PAGE_COMPRESSED=0 ENCRYPTED=NO",
                   "PAGE_COMPRESSED='1' PAGE_COMPRESSION_LEVEL=3"]}


class CheckMaker(Maker):
    """Statements with constraints and options."""

    def create(self) -> str:
        self.columns = ["c0", "c1"]
        items = ["c0 INT", f"c1 INT{self.own_check('c1')}", f"id INT{self.own_check('id')}", *[
            f"{self.random.choice(['', f'CONSTRAINT {self.new()}k '])}{self.check()}"
            for _ in range(self.random.randint(0, 3))]]
        self.random.shuffle(items)
        self.number = 2
        return f"CREATE TABLE t ({', '.join(items)}, KEY kc (c0){self.key_options()}) {self.options()}"

    def condition(self, column: str) -> str:
        return self.random.choice([f"{column} > 0", f"{column} IN (1, 2) OR {column} IS NULL",
                                   f"CONCAT({column}) <> 'a''b'", f"LENGTH(CONCAT({column}, 'x')) < 100",
                                   f"{column} BETWEEN -5 AND 9"])

    def check(self) -> str:
        two = self.random.random() < 0.3
        condition = self.condition(self.old()) + (f" AND {self.condition(self.old())}" if two else "")
        enforced = self.random.choice(["", "", " NOT ENFORCED", " ENFORCED"]) if self.flavour == "mysql" else ""
        return f"CHECK ({condition}){enforced}"

    def own_check(self, column: str) -> str:
        return f" CHECK ({self.condition(column)})" if self.random.random() < 0.4 else ""

    def options(self) -> str:
        choices = OPTIONS + OWN[self.flavour]
        return " ".join(self.random.choice(choices) for _ in range(self.random.randint(0, 4)))

    def key_options(self) -> str:
        return self.random.choice(["", " USING BTREE", " COMMENT 'it''s'", " KEY_BLOCK_SIZE=4 COMMENT='c' USING BTREE"])

    def action(self) -> str:
        pick, new = self.random.choice, self.new()
        names = [f"t_chk_{pick([1, 2, 3, 4])}", f"CONSTRAINT_{pick([1, 2, 3])}", f"c{self.number - 2}k",
                 f"n{self.number}k"]
        makers = [
            lambda: f"ADD {new} {pick(['INT', 'JSON', 'VARCHAR(20)'])}{self.own_check(new)}{self.place()}",
            lambda: f"ADD ({new} INT{self.own_check(new)})", lambda: f"MODIFY {(old := self.old())} "
            f"{pick(['INT', 'BIGINT', 'JSON', 'LONGTEXT'])}{self.own_check(old)}", lambda: f"DROP COLUMN {self.old()}",
            lambda: f"CHANGE {self.old()} {new} {pick(['INT', 'JSON'])}{self.own_check(new)}",
            lambda: f"RENAME COLUMN {self.old()} TO {new}", lambda: f"ADD {self.check()}",
            lambda: f"ADD CONSTRAINT {new}k {self.check()}", lambda: f"ADD CONSTRAINT {self.check()}",
            lambda: f"DROP CONSTRAINT {pick(names)}", self.options, lambda: f"ENGINE=InnoDB, {self.options()}",
            lambda: f"ADD KEY {new}k ({self.old()}){self.key_options()}", lambda: f"DROP KEY {self.key()}",
            lambda: "CONVERT TO CHARACTER SET latin1", lambda: f"ALTER {self.old()} SET DEFAULT 1"]
        if self.flavour == "mysql":
            makers += [lambda: f"DROP CHECK {pick(names)}",
                       lambda: f"ALTER {pick(['CHECK', 'CONSTRAINT'])} {pick(names)} {pick(['', 'NOT '])}ENFORCED"]
        else:
            makers.append(lambda: f"ADD CONSTRAINT IF NOT EXISTS {pick(names)} {self.check()}")
        return pick(makers)()

    def statement(self) -> str:
        return "ALTER TABLE t " + ", ".join(self.action() for _ in range(self.random.choice([1, 1, 1, 2])))


if __name__ == "__main__":
    write(RECORDED, [history for url in sys.argv[1:] for history in record(url, CheckMaker, TABLES)])
