"""What several test files share: one Spark session for the whole run, since a session costs seconds."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """A local session on two cores."""
    from applier.spark import session

    started = session.start("local[2]")
    yield started
    started.stop()
