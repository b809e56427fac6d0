"""`compare`: which of two places is ahead, and where the other one continues in it."""

from __future__ import annotations

from typing import Unpack

from applier.api.calls.arguments import KeyNames, PathLike, Watcher, uri, watcher
from applier.api.calls.job_options import keys_of_logs
from applier.api.calls.public import public
from applier.api.snapshots import Snapshot
from applier.binlog.events.gtid import GtidSet
from applier.engine import compiling
from applier.io.encryption.keys import Keys
from applier.jobs.compare import Comparison
from applier.options.verbs import COMPARE


@public(COMPARE)
def compare(
    a: PathLike | Snapshot | GtidSet,
    b: PathLike | Snapshot | GtidSet,
    *,
    keys: Keys | None = None,
    progress: Watcher | None = None,
    **flat: Unpack[KeyNames],
) -> Comparison:
    """Compare two snapshots, archives or GTID sets: which is ahead, which transactions only one of them has, and where
    the one that is behind continues in the other.

    >>> found = applier.compare("lake/earlier", "backup")
    >>> found.relation, str(found.only_b), str(found.attach)
    ('behind', '20810cc3-e548-11f1-a5e4-02fc00000001:1928-2462', 'binlog.000002:745606')

    {arguments}

    GTIDs decide, as for a replica that attaches to a source. Where one of the two has none, ids of event groups do,
    and then positions in files of one name. Of two that diverged, the transactions that only the replica has are the
    errant ones.

    Raises UsageError for places of different kinds of server, and what `replay` raises for those that cannot be read.
    """
    from applier.jobs.compare import compare as job

    keys = keys_of_logs(locals())
    compiling.ensure("outline", watcher(progress))
    one, other = (one_side if isinstance(one_side, GtidSet) else uri(one_side) for one_side in (a, b))
    return job(one, other, keys)
