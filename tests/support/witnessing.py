"""Has every replay of a test stop where the log contradicts a replayed row, except for tests marked `contradicted`."""

import pytest

from applier.options import ReplayOptions

MARKER = "contradicted"


class StoppingWitness:
    """A plugin: within a test, `--witness report`, which is the default, is `--witness stop`."""

    def __init__(self):
        self._stops = False
        check = ReplayOptions.__post_init__

        def checked(options):
            if self._stops and options.witness == "report":
                object.__setattr__(options, "witness", "stop")
            check(options)

        ReplayOptions.__post_init__ = checked

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self._stops = item.get_closest_marker(MARKER) is None
        try:
            return (yield)
        finally:
            self._stops = False
