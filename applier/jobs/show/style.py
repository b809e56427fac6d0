"""How `show` prints text: the options of mysqlbinlog and mariadb-binlog that change it; and the text around all
files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Base64 = Literal["decode-rows", "auto", "never"]


@dataclass(frozen=True)
class Style:
    """How text is printed: `base64` as --base64-output has it, how many -v there are, and whether headers and GTIDs are
    left out; `local_load` is a directory for the files of LOAD DATA. Rows are shown as comments where they are not in
    BINLOG statements, and beside these with -v."""

    base64: Base64 = "decode-rows"
    verbosity: int = 0
    short: bool = False
    skip_gtids: bool = False
    local_load: str | None = None

    @property
    def shows_binlog(self) -> bool:
        return self.base64 == "auto" and not self.short

    @property
    def shows_rows(self) -> bool:
        return not self.short and (self.base64 == "decode-rows" or self.verbosity > 0)

    @property
    def shows_statements(self) -> bool:
        """Whether MySQL's statements behind rows are shown. MariaDB's always are."""
        return self.verbosity > 1 or (self.base64 == "decode-rows" and self.verbosity == 0)

    @property
    def is_never(self) -> bool:
        """Whether rows are an error."""
        return self.base64 == "never" and not self.short

    def prologue(self, flavour: str) -> Iterator[str]:
        """Yield the lines before the first file."""
        if flavour == "mysql":
            yield "# The proper term is pseudo_replica_mode, but we use this compatibility alias"
            yield "# to make the statement usable on server versions 8.0.24 and older."
        yield "/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;"
        if flavour != "mysql":
            yield "/*!40019 SET @@session.max_delayed_threads=0*/;"
        yield "/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;"
        yield "DELIMITER /*!*/;"

    def between(self, flavour: str) -> Iterator[str]:
        """Yield the lines between files."""
        if flavour != "mysql":
            yield from ("DELIMITER ;", "DELIMITER /*!*/;")

    def epilogue(self, flavour: str) -> Iterator[str]:
        """Yield the lines behind the last file."""
        yield "DELIMITER ;"
        yield "# End of log file"
        if flavour != "mysql":
            yield "ROLLBACK /* added by mysqlbinlog */;"
        yield "/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;"
        yield "/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;"
