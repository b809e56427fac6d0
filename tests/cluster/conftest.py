"""One Spark session for a whole process, as a session costs seconds, and one cluster."""

import pytest

from applier.engine.spark.spark_private import is_before_4

collect_ignore = ["test_spark_source.py", "test_spark_reads.py"] if is_before_4() else []  # 4.0 brings data sources


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
