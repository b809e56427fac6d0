"""Servers beside tests, which end with them."""

import ctypes
import signal

_PR_SET_PDEATHSIG = 1
_prctl = ctypes.CDLL(None).prctl


def end_with_the_tests() -> None:
    """In a new process: be ended when the one that started it ends, also where that runs nothing at its end, as a run
    that is killed or a process of xdist that a first failure ends (Linux; programs that replace this one keep it)."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
