"""`applier publish`: publish a snapshot's tables in a lake."""

from typing import Any

from applier.cli.application import verb
from applier.options.verbs import PUBLISH


@verb(PUBLISH)
def publish(**arguments: Any) -> None:
    """Update published tables to those of a snapshot, without writing a row: the snapshot's own files are registered.

    A later snapshot of the same line replaces only the files that changed, and removes tables that were dropped. In
    Iceberg, renamed columns and tables keep their identity, and in a SQL catalog all tables change at once; in
    a REST catalog with multi-table commits, all rows. Delta tables change one after the other, and
    `_applier.json` beside them says whether all are at one position.

        applier publish /lake/now --iceberg sqlite:////lake/catalog.db
        applier publish /lake/now --delta /lake/delta
    """
    from applier.api.publishing import publish as published
    from applier.cli.output.written import PUBLICATION

    PUBLICATION.show(published(**arguments))
