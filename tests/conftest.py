"""What several test files share: one Spark session for a whole process, as a session costs seconds, and one cluster;
and the marker that each test has by its folder."""

import gc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import keysearch.memory  # noqa: F401  it names the cache of kernels: jsondiff's tests by themselves would have another

# How long an example takes is how busy the machine is.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: no garbage is looked for in it, neither now nor while tests run."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items):
    """A test below tests/unit is marked `unit`, and so on."""
    for item in items:
        item.add_marker(item.path.relative_to(Path(__file__).parent).parts[0])


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
