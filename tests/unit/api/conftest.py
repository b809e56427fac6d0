"""Errors name options as Python does, as for any program that calls functions."""

import pytest

import applier.api  # noqa: F401
from applier.errors import wording


@pytest.fixture(autouse=True)
def texts_of_python():
    with wording(of_command_line=False):
        yield
