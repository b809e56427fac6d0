# mypy: allow-untyped-defs, no-check-untyped-defs
"""Scans the bytes of an SQL file: blanks, comments, quotes, the end of a statement.

Offsets count from an address; every read is checked against `end`. The result MORE means that the bytes end too early
to decide: call again from the same offset with more bytes. Character sets in which a byte of a longer character may be
a quote or a backslash (big5, gbk, sjis, …) cannot be read this way. Source: MySQL manual, "Comments" and "String
Literals".
"""

import numpy as np

from keysearch.memory import inline, kernel, load_u8, load_u64

MORE = -1
"""The bytes end before it can be told."""

_ONES = np.uint64(0x0101010101010101)
_HIGHS = np.uint64(0x8080808080808080)
_BACKSLASHES = np.uint64(0x5C5C5C5C5C5C5C5C)


@inline
def blanks_end(data, at, end):
    """Return the offset after blanks and comments from `at` on, MORE if the bytes end before it. Comments that a server
    runs, /*! … */ and /*M! … */, do not count as comments."""
    while at < end:
        byte = load_u8(data + at)
        if byte <= 32:
            at += 1
            continue
        line_comment = byte == 35
        if byte == 45 or byte == 47:
            if at + 3 >= end:
                return np.int64(MORE)
            second, third = load_u8(data + at + 1), load_u8(data + at + 2)
            if byte == 45:
                line_comment = second == 45 and third <= 32
            elif second == 42 and third != 33 and not (third == 77 and load_u8(data + at + 3) == 33):
                at = comment_end(data, at, end)
                if at < 0:
                    return at
                continue
        if not line_comment:
            return at
        while at < end and load_u8(data + at) != 10:
            at += 1
    return np.int64(MORE)


@inline
def comment_end(data, at, end):
    """Return the offset after the */ that closes the comment at `at`, or MORE."""
    at += 2
    while at + 1 < end:
        if load_u8(data + at) == 42 and load_u8(data + at + 1) == 47:
            return at + 2
        at += 1
    return np.int64(MORE)


@inline
def quote_end(data, at, end, backslash):
    """Return the offset after the closing quote of the one at `at`, or MORE; and whether there are escapes in it (a
    doubled quote is one). `backslash`: whether it escapes."""
    quote = load_u8(data + at)
    quotes = _ONES * np.uint64(quote)
    escaped = False
    at += 1
    while at < end:
        while at + 8 <= end:
            word = load_u64(data + at)
            same_quote, same_backslash = word ^ quotes, word ^ _BACKSLASHES
            if ((same_quote - _ONES) & ~same_quote | (same_backslash - _ONES) & ~same_backslash) & _HIGHS:
                break
            at += 8
        byte = load_u8(data + at) if at < end else np.uint8(0)
        while at < end and byte != quote and byte != 92:
            at += 1
            byte = load_u8(data + at) if at < end else np.uint8(0)
        if at >= end:
            break
        if byte == 92 and byte != quote:
            if backslash:
                escaped = True
                at += 2
            else:
                at += 1
        elif at + 1 >= end:
            break
        elif load_u8(data + at + 1) == quote:
            escaped = True
            at += 2
        else:
            return at + 1, escaped
    return np.int64(MORE), escaped


@kernel
def statement_start(data, at, end):
    """Return the offset of the next statement's first character: blanks and plain comments are skipped. MORE if there
    is none yet."""
    return blanks_end(data, at, end)


@kernel
def statement_end(data, at, end, delimiter, delimiter_length, backslash):
    """Return the offset of the delimiter (its bytes are at an address of their own) that ends the statement at `at`, or
    MORE. A comment that a server runs belongs to the statement, as do quoted text and other comments."""
    while delimiter_length <= end - at:
        found = True
        for offset in range(delimiter_length):
            if load_u8(data + at + offset) != load_u8(delimiter + offset):
                found = False
                break
        if found:
            return at
        byte = load_u8(data + at)
        if byte == 39 or byte == 34 or byte == 96:
            at, _ = quote_end(data, at, end, backslash and byte != 96)
        elif byte == 35 or byte == 45 or byte == 47:
            after = comment_after(data, at, end)
            at = at + 1 if after == at else after
        else:
            at += 1
        if at < 0:
            return at
    return np.int64(MORE)


@inline
def comment_after(data, at, end):
    """Return the offset after the one comment at `at`, `at` if there is none (a comment that a server runs does not
    count), or MORE."""
    byte = load_u8(data + at)
    if byte == 47:
        if at + 1 < end and load_u8(data + at + 1) != 42:
            return at
        if at + 3 >= end:
            return np.int64(MORE)
        third = load_u8(data + at + 2)
        if third == 33 or (third == 77 and load_u8(data + at + 3) == 33):
            return at
        return comment_end(data, at, end)
    if byte == 45:
        if at + 1 < end and load_u8(data + at + 1) != 45:
            return at
        if at + 2 >= end:
            return np.int64(MORE)
        if load_u8(data + at + 2) > 32:
            return at
    while at < end and load_u8(data + at) != 10:
        at += 1
    return at if at < end else np.int64(MORE)
