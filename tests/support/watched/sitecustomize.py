"""Writes the functions and kernels of the packages that this process and its forks call, into a file per test module.

Python imports it as it starts wherever this folder is in PYTHONPATH, as in the processes that tests start under
`pytest --calls` (tests/support/called_functions.py). pytest's variable says which test it is; it stays what it was
when the process started, so that a process which serves several modules counts for the first one. What runs while a
module is imported does not count: that says which test imports it first, and not what it tests.
"""

import os
import sys
import threading

FOLDER = "APPLIER_CALLS"
"""The environment's variable with the folder for the files."""
PACKAGES = ("applier", "jsondiff", "keysearch")
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_PACKAGES = tuple(f"{_ROOT}/{package}/" for package in PACKAGES)


class Watch:
    """What a process calls: each code object once. Compiled code is not traced, so the class of the kernels notes
    their calls as soon as it is there."""

    def __init__(self, folder: str) -> None:
        self._folder, self._seen, self._path, self._hooked = folder, set(), "", False
        self._imports = threading.local()
        """Of each thread, how many modules of the packages it is importing."""

    def begin(self, module: str) -> None:
        """Write what is called from now on into the file of a test module."""
        self._seen.clear()
        self._path = f"{self._folder}/{module.replace('/', ',')}"
        threading.settrace(self._trace)
        sys.settrace(self._trace)

    def _trace(self, frame, event, _):
        """Python reports only calls to a tracer that returns nothing; a profiler would get those of C, too."""
        if (code := frame.f_code) not in self._seen:
            is_ours = _PACKAGES and code.co_filename.startswith(_PACKAGES)  # the interpreter may be ending
            if is_ours and code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__":
                self._imports.depth = self._depth() + 1
                frame.f_trace_lines = False
                return self._trace_module
            if is_ours and self._depth():
                return None
            self._seen.add(code)
            if is_ours and code.co_flags & 1:  # inspect.CO_OPTIMIZED, without an import that takes long
                self._note(f"{code.co_filename[len(_ROOT) + 1:]}:{code.co_qualname}")
            if not self._hooked and hasattr(module := sys.modules.get("keysearch.numba_private"), "CompiledKernel"):
                self._watch_kernels(module.CompiledKernel)
        return None

    def _trace_module(self, _, event, __):
        """Its body returns when an exception leaves it, too."""
        if event == "return":
            self._imports.depth -= 1
        return self._trace_module

    def _depth(self):
        return getattr(self._imports, "depth", 0)

    def _watch_kernels(self, kernels):
        self._hooked, plain, seen = True, kernels.__mro__[1].__call__, self._seen

        def call(kernel, *arguments):
            if kernel not in seen and not self._depth():
                seen.add(kernel)
                self._note(f"{kernel.__module__.replace('.', '/')}.py:{kernel.__name__}")
            return plain(kernel, *arguments)

        kernels.__call__ = call

    def _note(self, name):
        """A file that stayed open would be closed by who closes all that it does not know, as a daemon does."""
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(file, f"{name}\n".encode())
        os.close(file)


if __name__ == "sitecustomize" and FOLDER in os.environ and "PYTEST_CURRENT_TEST" in os.environ:
    Watch(os.environ[FOLDER]).begin(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0])
