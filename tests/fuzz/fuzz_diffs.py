"""A mutation fuzzer over documents and partial updates of them: each is applied or refused, and nothing else happens.

    python -m tests.fuzz.fuzz_diffs COUNT [FIRST]     mutants number FIRST (0) to FIRST + COUNT - 1

Mutant number n is always the same: a document and a chain of diffs that fit it, one of them damaged, or both. They are
applied many at once, out of memory that ends where nothing may be read, into buffers that are too short at first. Where
the document is whole and the diffs' parts are, what comes out must be what the plain form makes of them.
"""

import ctypes
import mmap
import random
import sys
import time

AT_ONCE = 500
SECONDS_FOR_ONE = 0.02
SLACK = 16


def mutant(number: int) -> tuple[bytes, list[bytes], bool]:
    """A document's text, a chain of column values, and whether the document is undamaged."""
    from jsondiff.encode import encode
    from jsondiff.text import to_text
    from tests.fuzz.fuzz_documents import damaged
    from tests.support import random_diffs

    dice = random.Random(number)
    value = random_diffs.document(dice)
    values = random_diffs.chain(dice, encode(value), dice.choice((1, 2, 4)))
    text, whole = to_text(value).encode(), number % 3 != 0
    for at in range(len(values)):
        if values[at] and (number % 3 == 1 or dice.random() < 0.3):
            values[at] = damaged(values[at], dice)
    return text if whole else damaged(text, dice), values, whole


def guarded(data: bytes):
    """An Arrow buffer of these bytes, behind which a read is a crash."""
    import pyarrow as pa

    size = -(-max(len(data), 1) // mmap.PAGESIZE) * mmap.PAGESIZE
    memory = mmap.mmap(-1, size + mmap.PAGESIZE)
    memory[size - len(data) : size] = data
    behind = ctypes.addressof(ctypes.c_char.from_buffer(memory, size))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(behind), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    return pa.py_buffer(memory).slice(size - len(data), len(data))


def outcomes(mutants: list[tuple[bytes, list[bytes], bool]]) -> list[tuple]:
    """What apply_diffs makes of each, as random_diffs.outcome says it, except for texts, which stay bytes."""
    import numpy as np
    import pyarrow as pa

    from jsondiff import apply

    def column(kind, values):
        offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
        return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(offsets), guarded(b"".join(values))])

    starts = np.cumsum([0, *(len(values) for _, values, _ in mutants)])
    texts = column(pa.string(), [text for text, _, _ in mutants])
    diffs = column(pa.binary(), [value for _, values, _ in mutants for value in values])
    slack, apply.SLACK = apply.SLACK, SLACK
    try:
        result = apply.apply_diffs(texts, diffs, starts)
    finally:
        apply.SLACK = slack
    return [
        (text, failed - start if failed >= 0 else -1, number, apply.explain(code)[0] if code else 0)
        for text, failed, start, number, code in zip(
            result.texts.cast(pa.binary()).to_pylist(), result.failed, starts, result.numbers, result.codes
        )
    ]


def check(document: tuple[bytes, list[bytes], bool], outcome: tuple) -> bool:
    """Return whether the diffs were applied; AssertionError if something else came out than must."""
    from jsondiff.diff import CORRUPT_EVENT, NOT_APPLICABLE
    from jsondiff.encode import encode
    from jsondiff.text import from_text
    from tests.support import random_diffs

    text, values, whole = document
    result, index, number, errno = outcome
    assert (result is None) == (errno != 0) and (index < 0) == (errno == 0), "neither applied nor refused"
    if values and result is not None:
        result.decode()
    if not whole:
        return errno == 0
    expected, *rest = random_diffs.outcome(encode(from_text(text.decode())), values)
    unreadable = _unreadable(values[rest[0]]) if rest[2] else ""
    if "no document" in unreadable and (errno == 0 or index >= rest[0]):
        return errno == 0  # members in another order than MySQL's: text like any other as long as nobody looks into it
    if unreadable and errno in (CORRUPT_EVENT, NOT_APPLICABLE):
        errno = rest[2]  # of a diff that has two faults, either is told; to the server they are one
    found = None if result is None else result.decode(), index, number, errno
    assert found == (expected, *rest), f"{found} instead of {expected, *rest}"
    return errno == 0


def _unreadable(value: bytes) -> str:
    """Why a column value has no diffs; empty if it has."""
    from jsondiff import wire
    from jsondiff.diff import DiffError

    try:
        wire.decode(value)
    except DiffError as error:
        return error.what
    return ""


def main(count: int, first: int = 0) -> int:
    """Applies mutants, and names the ones that broke something; 1 if there is one."""
    broken = applied = 0
    for start in range(first, first + count, AT_ONCE):
        mutants = [mutant(number) for number in range(start, min(start + AT_ONCE, first + count))]
        began = time.thread_time()
        found = outcomes(mutants)
        took = time.thread_time() - began
        if start > first and took > SECONDS_FOR_ONE * len(mutants):
            broken += 1
            print(f"diffs, numbers from {start} on: took {took:.1f} s", flush=True)
        for number, (made, outcome) in enumerate(zip(mutants, found), start):
            try:
                applied += check(made, outcome)
            except Exception as error:
                broken += 1
                print(f"diffs, number {number}: {error!r} {made!r}", flush=True)
    print(f"{count} mutated diffs, {applied} of them applied, {broken} broke something", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
