"""Which group of --help a verb and an option belong to, in the order that people see.

A name means the same in every verb, so it is in one group for all of them. Of a group's options, those before `more`
have a line of their own on a verb's first screen; the others are named there, and --help-all tells what they do.
"""

from typing import NamedTuple


class OptionGroup(NamedTuple):
    """Options that answer one question."""

    title: str
    first: tuple[str, ...]
    more: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of its options, in order."""
        return self.first + self.more


VERBS = {
    "Make snapshots": {
        "replay": "binlogs become a snapshot",
        "import": "a dump becomes a snapshot",
    },
    "Keep archives": {
        "archive": "copy a server's binlogs",
        "doctor": "what would stop a replay",
        "rewrite": "smaller, or full images",
        "index": "makes `locate` faster",
    },
    "Look into binlogs": {
        "summary": "what was done, by whom",
        "show": "events and rows as text",
        "locate": "where a GTID or a time is",
        "explain": "how rows are found",
    },
    "Follow rows": {
        "changes": "row changes for programs",
        "history": "what a row was, and when",
        "undo": "take transactions back",
    },
    "Use snapshots": {
        "status": "where it stands",
        "report": "how it was made",
        "sql": "query it with DuckDB",
        "views": "SQL that reads it",
        "diff": "between two snapshots",
        "verify": "against files or a server",
        "export": "files that a server loads",
        "publish": "into Iceberg or Delta",
    },
    "Keep lakes": {
        "versions": "what is in a lake",
        "sync": "follow a growing archive",
        "expire": "remove old versions",
        "fsck": "check all files",
    },
}
"""The verbs by what they are for, each in few words."""

OPTIONS = (
    OptionGroup("What to read", ("--binlogs", "--base", "--source"), (
        "--schema", "--define-from-log", "--database", "--position", "--gtid-set", "--flavour", "--keyring",
        "--key-file", "--key-file-secret")),
    OptionGroup("What to compare with", ("--against", "--server", "--repair", "--also"), (
        "--sql", "--hash", "--defaults-file")),
    OptionGroup("What to find", ("--gtid", "--datetime", "--xid", "--group-id")),
    OptionGroup("What to make", (
        "--output", "--lake", "--iceberg", "--delta", "--format", "--image", "--html", "--keep"), (
        "--json", "--definitions", "--snapshot-at", "--change-data", "--warehouse", "--dialect", "--compress",
        "--partial-json", "--statements", "--spreadsheet-safe", "--complete", "--unsigned-bigint",
        "--target-file-size", "--no-data", "--data-only", "--if-not-exists", "--replace", "--rows", "--top", "--health",
        "--json-log", "--allow-group-access")),
    OptionGroup("Where to start and stop", ("--stop-datetime", "--stop-position"), (
        "--stop-gtid", "--as-of", "--start-datetime", "--start-position", "--reapply", "--start-gtid", "--start-file",
        "--until", "--until-now")),
    OptionGroup("Which tables and rows", ("--tables", "--key"), (
        "--ignore-tables", "--rewrite-db", "--columns", "--where")),
    OptionGroup("Which transactions", ("--gtids",), ("--exclude-gtids", "--server-ids", "--ignore-server-ids")),
    OptionGroup("Where it runs", ("--every",), ("--engine", "--master", "--conf", "--route", "--pass-bytes")),
    OptionGroup("Advanced", (), (
        "--exec-mode", "--on-conflict", "--on-statement", "--type-conversions", "--zero-dates", "--witness",
        "--system-time-zone", "--lower-case-table-names", "--check-foreign-keys", "--ignore-foreign-keys", "--dry-run",
        "--quick")),
)
"""The options by what they ask; one that is not here is advanced."""


def grouped(names: list[str], *, has_arguments: bool = False) -> list[OptionGroup]:
    """The groups that have some of these options, with only these. Arguments say what to read: with them, this group
    comes first, even if it has no option."""
    known = {name for group in OPTIONS for name in group.names}
    rest = tuple(name for name in names if name not in known)
    groups = []
    for group in OPTIONS:
        more = group.more + (rest if group is OPTIONS[-1] else ())
        groups.append(OptionGroup(group.title, tuple(name for name in group.first if name in names),
                                  tuple(name for name in more if name in names)))
    return [group for group in groups if group.names or (has_arguments and group is groups[0])]
