"""One Spark session for a whole process, as a session costs seconds, and one cluster."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """A local session on two cores."""
    from applier.engine.spark import session

    started = session.start("local[2]")
    yield started
    started.stop()


@pytest.fixture(scope="session")
def spark_cluster(tmp_path_factory):
    """The master URL of a standalone cluster: a master and two workers of one core each, as processes of their own.

    A driver for it must be another process than the one of the `spark` fixture: Spark has one session a process.
    """
    from tests.support import spark_servers

    with spark_servers.cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url
