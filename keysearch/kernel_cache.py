"""Where compiled kernels are kept: by their sources and their target, wherever the sources are.

Numba invalidates a cached kernel when its own file changes, but not when another module does whose functions it
inlines or whose constants it holds. So the kernels of each module have a directory whose name holds a digest of the
module and of all that it imports: a change costs the kernels that depend on it, and the same sources elsewhere cost
nothing. These directories are below one for each Python, Numba, llvmlite and processor (keysearch.processor).

They are looked for in this package first, where a wheel has them (`SHIPPED`) and nothing is ever written: a user who
can change them can also change the modules beside them. Then they are looked for in the user's cache, if no other user
can write to it (keysearch.caches): to load a kernel is to run the code in its files.
"""

import hashlib
import os
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba

from keysearch import caches, numba_private, processor
from keysearch.addresses import is_checked

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = Path(__file__).resolve().parent / "compiled"
_PACKAGES = ("keysearch", "jsondiff", "applier")
_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n]*)", re.MULTILINE)


def install() -> None:
    """Have Numba compile for the processor that is chosen, and keep the kernels of these packages here, and those of
    any others where it keeps them by itself."""
    processor.choose()
    numba_private.ask_first(KernelLocator)


def keep(kernel: Any) -> Any:
    """Have the compiled code of a function looked for and kept; returns the function."""
    return numba_private.keep(kernel, _shipped_of)


def directory() -> str:
    """The user's directory of all kernels for this Python, Numba, llvmlite, processor and build; it may not be there
    yet. It is a private one where others could write to the cache."""
    base = numba_private.wanted_directory() or caches.user_folder("mysql-binlog-applier")
    return caches.usable(os.path.join(base, _made_for()), is_needed=not (SHIPPED / _made_for()).is_dir())


def kept_in(folder: str) -> str:
    """The user's directory of the kernels of a module, by the name of its folder; it may not be there yet."""
    return caches.usable(os.path.join(directory(), folder), is_below=True)


def shipped(folder: str) -> Path:
    """A directory of kernels that came with this package; it is not there where they did not."""
    return SHIPPED / _made_for() / folder


def folder(module: str) -> str:
    """The name of the directory of a module's kernels."""
    return f"{module}-{_digests.of(module)}"


def _made_for() -> str:
    """Return the name of a directory for everything that compiled code depends on besides its sources."""
    made_for = processor.chosen()
    parts = [f"kernels-{sys.implementation.cache_tag}-numba-{numba.__version__}-llvmlite-{llvmlite.__version__}",
             made_for.model]
    if not made_for.is_level:
        parts.append(hashlib.blake2b(made_for.features.encode(), digest_size=4).hexdigest())
    return "-".join(parts + ["checked"] * is_checked())


class KernelLocator(numba_private.SourceLocator):
    """Tells Numba the directory for the kernels of a module below `ROOT`."""

    @staticmethod
    def is_for(file: str) -> bool:
        return _module_of(file) != ""

    @staticmethod
    def directory_of(file: str) -> str:
        return kept_in(folder(_module_of(file)))


def _shipped_of(file: str) -> str | None:
    """The directory that came with this package for the kernels of a source file; None for one of another package."""
    name = _module_of(file)
    return str(shipped(folder(name))) if name else None


@cache
def _module_of(file: str) -> str:
    """The name of the module of a source file; "" where it is not of these packages."""
    inside = os.path.relpath(os.path.realpath(file), ROOT)
    name = inside.removesuffix(".py").replace(os.sep, ".")
    return name if name.startswith(tuple(f"{package}." for package in _PACKAGES)) else ""


class Digests:
    """Digests of modules with all that they import, below a folder."""

    def __init__(self, root: Path):
        self._root = str(root)
        self._read: dict[str, tuple[bytes, list[str]]] = {}
        self._files: dict[str, str] = {}
        self._digests: dict[str, str] = {}

    def of(self, module: str) -> str:
        """The digest of a module and of what it imports, directly or not, in hex."""
        if module not in self._digests:
            digest = hashlib.blake2b(digest_size=8)
            for name in self.sources(module):
                digest.update(name.encode() + b"\0" + self._module(name)[0] + b"\0")
            self._digests[module] = digest.hexdigest()
        return self._digests[module]

    def sources(self, module: str) -> list[str]:
        """The names of a module and of those of these packages that it imports, directly or not, in order."""
        found, todo = {module}, [module]
        while todo:
            new = {name for name in self._module(todo.pop())[1] if name not in found and self._file(name)}
            found |= new
            todo += new
        return sorted(found)

    def _module(self, name: str) -> tuple[bytes, list[str]]:
        """The text of a module, and the names of what it may import."""
        if name not in self._read:
            file = self._file(name)
            if not file:
                raise ModuleNotFoundError(f"there is no module {name} below {self._root}", name=name)
            with open(file, "rb") as source:
                text = source.read()
            imported: list[str] = []
            for package, names in _IMPORT.findall(text.decode()):
                found = [f"{package}.{name}" for name in re.findall(r"\w+", names)]
                # of a package whose modules are all that is imported, the kernels hold nothing
                imported += found if all(map(self._file, found)) else [package, *found]
            self._read[name] = text, imported
        return self._read[name]

    def _file(self, module: str) -> str:
        """A module's source file; "" where these packages have no such module."""
        if module not in self._files:
            first, *parts = module.split(".")
            path = os.path.join(self._root, first, *parts)
            files = (f"{path}.py", os.path.join(path, "__init__.py")) if first in _PACKAGES else ()
            self._files[module] = next(filter(os.path.isfile, files), "")
        return self._files[module]


_digests = Digests(ROOT)
