"""The file systems of a catalog that is given by its uri: those of the one resolver, so that the same environment leads
the snapshot's files and the catalog's to the same store. A catalog with a name has its own settings."""

from __future__ import annotations

from pyarrow.fs import FileSystem
from pyiceberg.io.pyarrow import PyArrowFileIO

from applier.io.resolver import resolve

IMPLEMENTATION = f"{__name__}.Stores"


class Stores(PyArrowFileIO):
    """Files of pyiceberg's. Those of this machine it opens itself: it makes the folders that they are in."""

    def _initialize_fs(self, scheme: str, netloc: str | None = None) -> FileSystem:
        return super()._initialize_fs(scheme, netloc) if scheme == "file" else resolve(f"{scheme}://{netloc}")[0]
