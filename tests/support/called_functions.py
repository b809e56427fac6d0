"""Which functions and kernels of the packages each test module calls: `pytest --calls FILE` writes them as JSON.

A profiler sees the functions of Python, and keeps each code object once. Compiled code calls no profiler, so the class
of the kernels sees their calls. Other processes are not seen. With xdist, each process writes a file of its own.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

from keysearch.numba_private import CompiledKernel
from tests.support.folders import ROOT

PACKAGES = ("applier", "jsondiff", "keysearch")
_FOLDERS = tuple(f"{ROOT / package}/" for package in PACKAGES)


class CalledFunctions:
    """Functions as "applier/errors.py:reason", by the test module that calls them."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._codes: set[CodeType] = set()
        self._kernels: set[str] = set()
        self._by_module: dict[str, set[str]] = defaultdict(set)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch a test with its fixtures."""
        self._watch()
        try:
            return (yield)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            del CompiledKernel.__call__
            called = self._by_module[str(item.path.relative_to(ROOT))]
            called |= {f"{code.co_filename[len(str(ROOT)) + 1:]}:{code.co_qualname}" for code in self._codes
                       if code.co_filename.startswith(_FOLDERS)}
            called |= self._kernels
            self._codes.clear()
            self._kernels.clear()

    def _watch(self) -> None:
        codes, kernels, plain = self._codes, self._kernels, CompiledKernel.__mro__[1].__call__

        def profile(frame: FrameType, event: str, _: object) -> None:
            if event == "call":
                codes.add(frame.f_code)

        def call(kernel: Any, *arguments: Any) -> Any:
            kernels.add(f"{kernel.__module__.replace('.', '/')}.py:{kernel.__name__}")
            return plain(kernel, *arguments)

        CompiledKernel.__call__ = call
        threading.setprofile(profile)
        sys.setprofile(profile)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what this process saw."""
        if self._by_module:
            worker = getattr(session.config, "workerinput", {}).get("workerid", "")
            found = {module: sorted(called) for module, called in sorted(self._by_module.items())}
            Path(f"{self._path}{worker}").write_text(json.dumps(found))
