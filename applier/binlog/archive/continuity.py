"""Checks that the contents of an archive's files continue: ROTATE names the next file, and the head of each file says
which transactions precede it."""

from collections.abc import Sequence
from itertools import pairwise

from applier.binlog.outline.outline import Outline
from applier.errors import LOG_GAP, ArchiveError, MissingFile


def check_continuity(outlines: Sequence[Outline]) -> None:
    """Check that each file continues the previous one. `outlines` are in archive order; files after a stop are not
    checked.

    Raises MissingFile for a missing file that ROTATE names, ArchiveError for a GTID gap (1236), a truncated file before
    the newest one, and mixed flavours. A file whose format description says that it was rotated to must follow a
    ROTATE.
    """
    for before, after in pairwise(outlines):
        if before.stopped:
            return
        if before.torn:
            raise ArchiveError(
                f"{before.torn_what}, and it is not the newest file of the archive",
                file=before.name,
                position=before.torn_at,
                errno=LOG_GAP,
                hint=f"copy it again from the server, or stop before it: --stop-position {before.name}:{before.end}",
            )
        if before.format.flavour != after.format.flavour:
            raise ArchiveError(
                f"{before.name} is of {before.format.flavour}, {after.name} of {after.format.flavour}", file=after.name
            )
        if before.next_file is not None and before.next_file != after.name:
            raise MissingFile(
                f"{before.name} continues in {before.next_file}, but the next file of the archive is {after.name}",
                file=before.next_file,
                errno=LOG_GAP,
            )
        if before.next_file is not None and after.format.created and not _has_proof(after):
            raise ArchiveError(
                f"{after.name} does not continue {before.name}, which was rotated: a server started with it",
                file=after.name,
                errno=LOG_GAP,
                hint="are these files of one server? If it crashed during the rotation, replay up to here, and "
                     f"continue from that --base with --start-position {after.name}:4",
            )
        if _has_no_end(before) and not after.format.created:
            raise ArchiveError(
                f"the end of the file is missing: a rotation began {after.name}, but {before.name} does not have it",
                file=before.name,
                position=before.size,
                errno=LOG_GAP,
                hint=f"copy it again from the server, or stop before it: --stop-position {before.name}:{before.end}",
            )
        _check_gtids(before, after)


def notes_on_ends(outlines: Sequence[Outline]) -> list[str]:
    """Return warnings about files that may be truncated at the end of a group; a server that crashed leaves such files,
    too. If groups have GTIDs, the next file shows which it is, and there is no warning."""
    return [f"{before.name} ends at {before.size} neither with a rotation nor with a shutdown: the server crashed "
            "there, or the end of the file is missing, which cannot be told apart without GTIDs"
            for before, after in pairwise(outlines)
            if not before.stopped and _has_no_end(before) and not _has_proof(after)]


def _has_proof(outline: Outline) -> bool:
    """Return True if the file says which transactions precede it; MariaDB's files always do."""
    return outline.format.flavour == "mariadb" or bool(outline.previous_gtids)


def _has_no_end(outline: Outline) -> bool:
    return outline.next_file is None and not outline.shut_down


def _check_gtids(before: Outline, after: Outline) -> None:
    logged = before.previous_gtids.followed_by(before.gtids)
    if missing := after.previous_gtids.subtract(logged):
        raise ArchiveError(
            f"transactions {missing} are missing: {after.name} says that they precede it, but the log up to the end "
            f"of {before.name} does not contain them",
            file=after.name,
            errno=LOG_GAP,
        )
    # MySQL's sets only grow. A MariaDB server may forget domains (FLUSH BINARY LOGS DELETE_DOMAIN_ID), but none that
    # a file which it still has, as the one before, has groups of.
    known = logged if before.format.flavour == "mysql" else before.gtids
    if extra := known.subtract(after.previous_gtids):
        raise ArchiveError(
            f"{after.name} does not continue {before.name}: its previous GTIDs do not contain transactions {extra}",
            file=after.name,
            errno=LOG_GAP,
            hint="are these files of one server?",
        )
