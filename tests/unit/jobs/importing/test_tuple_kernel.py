"""VALUES lists as spans: every kind of literal, wherever the bytes that are read so far may end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from applier.jobs.importing.sql import tuple_kernel as kernels
from applier.jobs.importing.sql.inserts import new_spans
from keysearch.addresses import address_of
from tests.support.examples import examples

HEAD = b"INSERT INTO t VALUES "


def literals_of(text):
    """The literals of a list of rows of one column, which is whole."""
    data = np.frombuffer(text, np.uint8)
    code, spans, (rows, _) = spans_of(data, 1)
    assert code == kernels.Status.ENDED
    return spans.literals(data, 0, rows)


def parsed(text, columns, **options):
    """(why it stopped, rows as lists of (kind, span), position to continue from) of the bytes from `at` to `end`."""
    code, spans, out = spans_of(np.frombuffer(text, np.uint8), columns, **options)
    rows = [[(int(spans.kinds[c, r]), text[spans.starts[c, r]:spans.starts[c, r] + spans.lengths[c, r]])
             for c in range(columns)] for r in range(out[0])]
    return code, rows, int(out[1])


def spans_of(data, columns, *, end=None, flags=kernels.BACKSLASH, at=0):
    """(why it stopped, spans, [rows, position to continue from])"""
    head, spans, out = np.frombuffer(HEAD, np.uint8), new_spans(columns, 1000 * columns), np.zeros(2, np.int64)
    end = len(data) if end is None else end
    held = data[:end].copy()  # whoever reads behind its end reads what is not there
    record = spans.record()
    code = kernels.parse_rows(address_of(held), at, end, address_of(head), len(head), flags, address_of(record), out)
    return code, spans, out


@pytest.mark.parametrize("literal, kind, span", [
    (b"NULL", kernels.NULL, b"NULL"), (b"null", kernels.NULL, b"null"), (b"DEFAULT", kernels.DEFAULT, b"DEFAULT"),
    (b"12", kernels.INTEGER, b"12"), (b"-12", kernels.INTEGER, b"-12"), (b"-.5", kernels.DECIMAL, b"-.5"),
    (b"1.", kernels.DECIMAL, b"1."), (b"1e5", kernels.DOUBLE, b"1e5"), (b"1.5E-7", kernels.DOUBLE, b"1.5E-7"),
    (b"true", kernels.TRUE, b"true"), (b"FALSE", kernels.FALSE, b"FALSE"), (b"''", kernels.TEXT, b""),
    (b"'a,b)'", kernels.TEXT, b"a,b)"), (b'"a\'b"', kernels.TEXT, b"a'b"), (b"'a''b'", kernels.ESCAPED, b"a''b"),
    (b"'\\''", kernels.ESCAPED, b"\\'"), (b"_binary 'a\0b'", kernels.BINARY_TEXT, b"a\0b"),
    (b"_binary'\\0'", kernels.BINARY_ESCAPED, b"\\0"), (b"0xFf", kernels.HEX, b"Ff"), (b"x'0a'", kernels.HEX, b"0a"),
    (b"_utf8mb4 x'C3A9'", kernels.HEX_TEXT, b"C3A9"), (b"_UTF8MB4X''", kernels.EXPRESSION, b"_UTF8MB4X''"),
    (b"_utf8mb4 'a'", kernels.EXPRESSION, b"_utf8mb4 'a'"), (b"_utf8mb4 x'0g'", kernels.EXPRESSION, b"_utf8mb4 x'0g'"),
    (b"0b101", kernels.BITS, b"101"), (b"B'1'", kernels.BITS, b"1"), (b"1 + 2", kernels.EXPRESSION, b"1 + 2"),
    (b"- 5", kernels.EXPRESSION, b"- 5"), (b"f('),', (2))", kernels.EXPRESSION, b"f('),', (2))"),
    (b"'a' 'b'", kernels.EXPRESSION, b"'a' 'b'"), (b"_latin1'x'", kernels.EXPRESSION, b"_latin1'x'"),
    (b"x'0g'", kernels.EXPRESSION, b"x'0g'"), (b"0xag", kernels.EXPRESSION, b"0xag"),
    (b"1e", kernels.EXPRESSION, b"1e"),
    (b"@v", kernels.EXPRESSION, b"@v"), (b"nullx", kernels.EXPRESSION, b"nullx"), (b"--5", kernels.EXPRESSION, b"--5"),
])
def test_kinds(literal, kind, span):
    """MySQL manual, "Literal Values": what the server takes for a literal, and where it begins and ends."""
    assert parsed(b"(" + literal + b", 7 /* x */ );", 2)[1] == [[(kind, span), (kernels.INTEGER, b"7")]]


def test_names_in_double_quotes():
    """ANSI_QUOTES: text in double quotes is a name, so no literal."""
    flags = kernels.BACKSLASH | kernels.ANSI_QUOTES
    assert parsed(b'("a");', 1, flags=flags)[1] == [[(kernels.EXPRESSION, b'"a"')]]


def test_backslashes_that_do_not_escape():
    """NO_BACKSLASH_ESCAPES."""
    assert parsed(b"('a\\'),('b');", 1, flags=0)[1] == [[(kernels.TEXT, b"a\\")], [(kernels.TEXT, b"b")]]


@pytest.mark.parametrize("text, code", [
    (b"(1,2),(3);", kernels.Status.WRONG_COUNT), (b"(1,2) ON DUPLICATE KEY UPDATE a = 1;", kernels.Status.ON_DUPLICATE),
    (b"(1,2),;", kernels.Status.NO_LIST), (b"(1,2),(", kernels.Status.NEEDS_MORE),
    (b"(1,'2", kernels.Status.NEEDS_MORE),
])
def test_what_it_cannot_go_on_from(text, code):
    """Rows before it are read; the place is the one to continue from, or of the fault."""
    assert parsed(text, 2)[0] == code


LITERALS = st.one_of(
    st.integers(-10**20, 10**20).map(lambda n: b"%d" % n),
    st.binary(max_size=20).map(lambda data: b"'" + data.replace(b"\\", b"\\\\").replace(b"'", b"\\'") + b"'"),
    st.binary(max_size=20).map(lambda data: b"0x" + data.hex().encode() if data else b"''"),
    st.sampled_from([b"NULL", b"1.5", b"-1e9", b"_binary 'x'", b"f(1, ')')", b"b'01'", b"default", b"1 + (2)"]))
BLANKS = st.sampled_from([b"", b" ", b"\n", b" -- it's (a comment)\n", b"/* ; ' */", b"#)\n"])


@st.composite
def statements(draw):
    """Several INSERTs of rows of two values with the same head, and blanks anywhere."""
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        rows = [b"(" + b",".join(draw(BLANKS) + draw(LITERALS) + draw(BLANKS) for _ in range(2)) + b")"
                for _ in range(draw(st.integers(1, 4)))]
        parts.append((draw(BLANKS) + b"," + draw(BLANKS)).join(rows) + b";\n")
    return HEAD.join(parts) + b"UNLOCK TABLES;   "


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(text=statements())
def test_wherever_the_bytes_end(text):
    """Read in two parts, cut at any byte, the rows are the same."""
    _, whole, _ = parsed(text, 2)
    for end in range(len(text)):
        code, rows, place = parsed(text, 2, end=end)
        if code == kernels.Status.ENDED:
            assert rows == whole[:len(rows)]
            continue
        assert code == kernels.Status.NEEDS_MORE
        assert rows + parsed(text, 2, at=place)[1] == whole


@settings(max_examples=examples(200))
@given(text=st.binary(max_size=60), columns=st.integers(1, 3))
def test_any_bytes(text, columns):
    """Whatever comes, it ends, and within the bytes."""
    code, rows, place = parsed(b"(" + text, columns)
    assert 0 <= place <= len(text) + 1
    assert all(len(span) <= len(text) for row in rows for _, span in row)
    assert code in range(6)
