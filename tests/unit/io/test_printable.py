"""What is printed of text that anybody may have written."""

import io

import pytest

from applier.io.printable import PrintableBytes, TerminalText, printable


@pytest.mark.parametrize("text, shown", [
    ("", ""), ("plain 'text' `é` 名前 🙂", "plain 'text' `é` 名前 🙂"), ("a\nb\tc\r", "a\\x0ab\\x09c\\x0d"),
    ("\x1b[2J\x07\x7f\0", "\\x1b[2J\\x07\\x7f\\x00"), ("\x9b31m", "\\u009b31m"), ("\u202eexe.gnp", "\\u202eexe.gnp"),
    ("a\u200bb\ufeff\u2028", "a\\u200bb\\ufeff\\u2028"), ("\U000e0001", "\\U000e0001"), ("\udcff\ud800",
                                                                                         "\\xff\\ud800"),
    ("no-break\u00a0and　wide", "no-break\u00a0and　wide"),
])
def test_printable(text, shown):
    assert printable(text) == shown
    assert printable(text).replace("\u00a0", " ").replace("\u3000", " ").isprintable()


def test_what_is_kept():
    assert printable("a\nb\tc\x1b", keep="\n\t") == "a\nb\tc\\x1b"


def test_every_character_of_unicode():
    """Whatever a terminal may obey, or not show, is none of what is printed."""
    for code in (*range(0x3000), *range(0xD800, 0xE010), *range(0xFE00, 0x10100), *range(0xE0000, 0xE0200)):
        shown = printable(chr(code))
        assert shown == chr(code) or (shown[0] == "\\" and shown.isascii())


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_bytes_of_a_terminal_come_in_parts(size):
    """A character may be divided between two; bytes that are not text are escaped one by one."""
    text = "é名\n\t🙂\x1b[2J".encode() + b"\xff\xc3(\x9b" + "é".encode() + b"\xe5\x90"
    stream = io.BytesIO()
    screen = PrintableBytes(stream)
    for at in range(0, len(text), size):
        assert screen.write(memoryview(text[at:at + size])) == len(text[at:at + size])
    screen.flush()
    assert stream.getvalue().decode() == "é名\n\t🙂\\x1b[2J\\xff\\xc3(\\x9bé\\xe5\\x90"


def test_a_stream_of_text():
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    screen = TerminalText(out)
    screen.buffer.write(b"a\x07")
    screen.flush()
    assert out.buffer.getvalue() == b"a\\x07"
