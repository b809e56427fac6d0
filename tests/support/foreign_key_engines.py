"""Which of the two ways of following foreign keys a plan takes: by itself, or always the general one."""

from contextlib import contextmanager
from unittest import mock

import pytest

from applier.plan import cascades

ENGINES = ("planned", "together")
both_engines = pytest.mark.parametrize("engine", ENGINES)


@contextmanager
def engine_of(engine):
    """`planned`: by value (foreign_keys.parent_events) where that is possible; `together`: one task applies all tables
    that foreign keys connect, change by change (foreign_keys.cascades)."""
    if engine == "planned":
        yield
    else:
        with mock.patch.object(cascades, "links_by_value", lambda *_: {}):
            yield
