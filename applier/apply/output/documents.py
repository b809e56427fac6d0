"""Applies diffs to JSON documents, a column at a time: all diffs of a document in order.

A diff that does not fit stops the replay as it stops a replica (JD-SAFE1, JD-SAFE2, JD-NULL). The first one in the log
is kept, in whatever order they are found. Diffs whose document was overwritten later count, too.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from applier.apply.index.diff_nodes import DiffChains, DiffNodes
from applier.apply.output.image_reader import ChunkTooLarge, ImageMemory, ImageReader
from applier.binlog.rows.changes import ImageLayouts
from applier.errors import CORRUPT_EVENT, ApplierError, ArchiveError, ReplayStopped
from applier.schema.definition import TableDefinition

DIFFS_AT_A_TIME = 1 << 14
"""The number of diffs to read at a time, and to apply at a time to a single document."""
CHUNK_DIFFS = 1 << 18
"""The most diffs of a chunk of documents, unless the chunk is a single document."""


class Documents:
    """Applies the diffs of a table's JSON columns. `failure` is the error (3648, 3649, 1610, …) of the diff that did
    not fit, the first one in log order of those that were applied so far."""

    def __init__(self, definition: TableDefinition, nodes: DiffNodes, layouts: ImageLayouts, memory: ImageMemory):
        self.failure: ApplierError | None = None
        self.seen = np.zeros(nodes.n, np.bool_)
        self._definition, self._nodes, self._layouts, self._memory = definition, nodes, layouts, memory
        self._failed_node: int | None = None
        self._readers: dict[int, ImageReader] = {}

    def not_applied(self) -> dict[int, np.ndarray]:
        """Return pointers to the last diffs of the chains that were not applied yet, by column."""
        return self._nodes.tops_without(self.seen)

    def unwind(self, pointers: np.ndarray) -> DiffChains | None:
        """Like `DiffNodes.unwind`. Raises ChunkTooLarge."""
        chains = self._nodes.unwind(pointers)
        if chains is not None and len(chains.numbers) > CHUNK_DIFFS and len(pointers) > 1:
            raise ChunkTooLarge
        return chains

    def applied(self, column: int, texts: pa.Array, chains: DiffChains) -> pa.Array:
        """Return the documents of a column (by number in the definition) after their diffs. Raises ChunkTooLarge."""
        documents = texts.take(pa.array(chains.rows, mask=chains.bases >= 0))
        if len(texts) == 1:
            documents = self._one_document(column, documents, chains.numbers)
        else:
            documents = self._some_documents(column, documents, chains.offsets, chains.numbers, chains.bases)
        self.seen[chains.numbers] = True
        chosen = np.zeros(len(texts), np.bool_)
        chosen[chains.rows] = True
        return pc.replace_with_mask(texts, pa.array(chosen), documents.take(pa.array(np.argsort(chains.rows))))

    def _one_document(self, column: int, document: pa.Array, numbers: np.ndarray) -> pa.Array:
        """Apply any number of diffs to one document, some of them at a time."""
        start, step = 0, DIFFS_AT_A_TIME
        while start < len(numbers):
            chunk = numbers[start:start + step]
            try:
                document = self._some_documents(column, document, np.array([0, len(chunk)]), chunk)
            except ChunkTooLarge:
                step = len(chunk) // 2
                continue
            if document.null_count:
                break  # a diff did not fit
            start += step
        return document

    def _some_documents(self, column: int, documents: pa.Array, offsets: np.ndarray, numbers: np.ndarray,
                        bases: np.ndarray | None = None) -> pa.Array:
        from jsondiff.apply import apply_diffs

        try:
            diffs = self._read(column, numbers)
            applied = apply_diffs(documents, diffs, offsets, bases)
        except (OverflowError, pa.ArrowCapacityError) as error:
            if len(numbers) > 1:
                raise ChunkTooLarge from error
            raise
        failed, rows = np.unique(applied.failed, return_index=True)
        for row in rows[failed >= 0]:  # the first one: others began with it
            value = int(applied.failed[row])
            self._note(column, int(numbers[value]), int(applied.codes[row]),
                       _shown(diffs[value].as_py(), int(applied.numbers[row])))
        return applied.texts

    def _read(self, column: int, numbers: np.ndarray) -> pa.Array:
        """Return the diffs of these nodes as logged, without the length before them."""
        reader = self._readers.get(column)
        if reader is None:
            wanted = [plan if c == column else None for c, plan in enumerate(self._layouts.plans)]
            reader = ImageReader(self._memory, self._layouts, wanted, DIFFS_AT_A_TIME, raw_diffs=True)
            self._readers[column] = reader
        parts = []
        for start in range(0, len(numbers), DIFFS_AT_A_TIME):
            images = self._nodes.images[numbers[start:start + DIFFS_AT_A_TIME]]
            reader.read(images)
            values = reader.buffers.columns[column].arrow(len(images))
            if values.null_count:
                image = int(images[np.flatnonzero(values.is_null())[0]])
                raise self._memory.located(ArchiveError("a NULL that is marked as a JSON diff", errno=CORRUPT_EVENT),
                                          image, self._definition.full_name)
            parts.append(pa.concat_arrays([values, values.slice(0, 0)]))  # in memory of their own
        return pa.concat_arrays(parts)

    def _note(self, column: int, node: int, code: int, diff: str) -> None:
        """Record a failure if it is the first one in the log."""
        from jsondiff.apply import explain

        if self._failed_node is not None and self._failed_node <= node:
            return
        self._failed_node = node
        position, row = self._nodes.position(node)
        errno, what = explain(code)
        kind, hint = (ArchiveError, "the file is damaged; copy it again from the server") if errno == CORRUPT_EVENT \
            else (ReplayStopped, None)
        file, name = self._memory.file_of(int(self._nodes.images[node])), self._definition.columns[column].name
        self.failure = kind(f"the JSON diff {diff} does not fit column {name}: {what}", file=file.uri,
                            position=position, row=row, table=self._definition.full_name, errno=errno, hint=hint)


def _shown(value: bytes, number: int) -> str:
    """Describe a diff of a column's value: its operation and path, as far as they can be read."""
    from jsondiff.diff import DiffError
    from jsondiff.wire import decode

    try:
        diff = decode(value)[number]
    except DiffError as error:
        return f"{number + 1}" if error.path is None else f"of {error.path}"
    return f"{diff.operation.name} of {diff.path}"
