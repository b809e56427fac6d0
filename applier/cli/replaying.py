"""`applier replay`."""

from typing import Any

from applier.cli.application import verb
from applier.engine.choice import choose
from applier.options import ReplayOptions, check_target
from applier.options.verbs import REPLAY


@verb(REPLAY)
def replay(**arguments: Any) -> None:
    """Replay binlogs into a new snapshot.

    Starts from nothing (table definitions come from the CREATE TABLEs in the log), from --schema, or from --base.
    The output is published atomically; all its tables are at one position, always an event group's end.

    Restore the shop's tables as of 10:30:

        applier replay --binlogs /backup --output /lake/before
                       --stop-datetime '2026-03-14 10:30:00'

    Advance yesterday's snapshot to today:

        applier replay --base /lake/yesterday --binlogs /backup
                       --output /lake/today

    Keep a lake, whose versions share files, up to date:

        applier replay --lake /lake/shop --binlogs /backup
    """

    options = _options(arguments)
    is_on_spark = choose(options).engine == "spark"
    if is_on_spark:
        from applier.engine.spark import session

        session.boot(options.master, options.conf)  # Java starts while other modules are imported
    from applier.cli.output.status import REPLAYED
    from applier.cli.terminal import progress
    from applier.jobs.on_engine import replaying

    with progress() as watcher:
        results = replaying.replay(options, watcher)
    for result in results:
        REPLAYED.show(result)


def _options(arguments: dict[str, Any]) -> ReplayOptions:
    from applier.api.calls.job_options import options_of

    options = options_of(ReplayOptions, REPLAY, arguments)
    check_target(options.output, options.lake, merge_on_read=options.merge_on_read)
    return options
