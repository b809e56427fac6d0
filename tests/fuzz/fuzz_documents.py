"""A mutation fuzzer over real documents, binary and text: each is read, or refused with a DocumentError, nothing else.

    python -m tests.fuzz.fuzz_documents COUNT [FIRST]     mutants number FIRST (0) to FIRST + COUNT - 1

Mutant number n is always the same. What decode reads, binary.to_text must read too and print alike, and encode must
write again; what either refuses must not have cost more time or memory than a document of that size may. A column of
text must become what each text does.
"""

import functools
import random
import sys
import time
import tracemalloc

EXTREMES = (b"\0", b"\xff", b"\x7f", b"\x80", b"\xff\xff", b"\xff\x7f", b"\0\x80", b"\xff" * 4, b"\xff\xff\xff\x7f")
LARGEST = 3000
SECONDS_FOR_ONE = 1
BYTES_FOR_ONE, BYTES_FOR_A_BYTE = 100_000, 200  # an empty object of Python takes 64 bytes, where the document has 7


@functools.cache
def sources() -> list[bytes]:
    """Documents of a real server, which are damaged."""
    from tests.support.json_documents import RECORDED

    return [document for document, _ in RECORDED if len(document) <= LARGEST]


@functools.cache
def texts() -> list[bytes]:
    """What the server prints for documents, with what json_sources.py asks for and every kind of white space."""
    from tests.support.json_documents import RECORDED, recorded

    asked = [text.encode() for text, *_ in recorded("server_texts")]
    return [text for text in [text.encode() for _, text in RECORDED] + asked if 0 < len(text) <= LARGEST]


def mutant(number: int) -> bytes:
    """A real binary document with one to four kinds of damage."""
    dice = random.Random(number)
    return damaged(dice.choice(sources()), dice)


def text_mutant(number: int) -> str:
    """A text with one to four kinds of damage."""
    dice = random.Random(number)
    return damaged(dice.choice(texts()), dice).decode(errors="replace")


def damaged(source: bytes, dice: random.Random) -> bytes:
    data = bytearray(source)
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        at = dice.randrange(len(data)) if dice.random() < 0.5 else dice.randrange(min(len(data), 40))
        match dice.randrange(6):
            case 0:
                data[at] ^= 1 << dice.randrange(8)
            case 1 | 2:
                extreme = dice.choice(EXTREMES)
                data[at : at + len(extreme)] = extreme
            case 3:  # an offset that points to another place of the document
                data[at : at + 2] = dice.randrange(len(data)).to_bytes(2, "little")
            case 4:
                data[at:at] = data[at : at + dice.randrange(1, 20)]
            case 5:
                del data[at : at + dice.choice((1, 2, 7, len(data)))]
        data = data or bytearray(1)
    return bytes(data)


def check(document: bytes) -> bool:
    """Return whether the document can be read; AssertionError, or any other error, if something is wrong with the
    readers."""
    import pyarrow as pa

    from jsondiff.binary import JsonError, to_text
    from jsondiff.decode import decode
    from jsondiff.encode import encode
    from jsondiff.values import DocumentError

    column = pa.array([document], pa.binary())
    try:
        text = to_text(column)[0].as_py()
    except JsonError:
        text = None
    start = time.thread_time()
    tracemalloc.start()
    try:
        value = decode(document)
    except DocumentError:
        value = ...
    took, (_, peak) = time.thread_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < SECONDS_FOR_ONE, f"took {took:.1f} s"
    assert peak < BYTES_FOR_A_BYTE * len(document) + BYTES_FOR_ONE, f"took {peak} bytes"
    if value is ...:
        return False
    assert text is not None, "decode reads what to_text refuses"
    assert to_text(pa.array([encode(value)], pa.binary()))[0].as_py() == text, "encode writes another document"
    return True


def check_text(text: str) -> bool:
    """Return whether the text is JSON; AssertionError, or any other error, if something is wrong with the readers."""
    import pyarrow as pa

    from jsondiff.normalize import normalize
    from jsondiff.text import from_text, to_text
    from jsondiff.values import DocumentError

    outcomes = []
    for make in (lambda: to_text(from_text(text)), lambda: normalize(pa.array([text]))[0].as_py()):
        start = time.thread_time()
        try:
            outcomes.append(make())
        except DocumentError as error:
            outcomes.append((error.what, error.errno, error.offset))
        assert time.thread_time() - start < SECONDS_FOR_ONE, "takes too long"
    assert outcomes[0] == outcomes[1], f"normalize says {outcomes[1]}"
    return isinstance(outcomes[0], str)


def main(count: int, first: int = 0) -> int:
    """Checks mutants, binary and text, and names the ones that broke something; 1 if there is one."""
    import pyarrow as pa

    from jsondiff.normalize import normalize

    broken = 0
    normalize(pa.array(["1"]))  # loads the kernel, or compiles it, before time counts
    for what, make, judge in (("binary documents", mutant, check), ("texts", text_mutant, check_text)):
        read = 0
        for number in range(first, first + count):
            try:
                read += judge(make(number))
            except Exception as error:
                broken += 1
                print(f"{what}, number {number}: {error!r} {make(number)!r}", flush=True)
        print(f"{count} mutated {what}, {read} of them still good, {broken} broke something", flush=True)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
