"""What the end of Java looks like to py4j."""

import pytest
from py4j.protocol import ERROR, Py4JError, get_return_value

from applier.engine.spark import running


def test_a_connection_that_breaks_while_it_waits_means_that_java_is_gone():
    """py4j's error is bare then; one of Java's own has a trace."""
    with pytest.raises(Py4JError) as broken:
        get_return_value(ERROR, None, "o102", "getResult")
    assert running.is_silence(broken.value)
    assert not running.is_silence(Py4JError("An error occurred while calling o102.getResult. Trace:\njava.lang.Error"))
