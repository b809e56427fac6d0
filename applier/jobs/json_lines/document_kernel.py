# mypy: allow-untyped-defs, no-check-untyped-defs
"""Checks whether a text is a JSON document (RFC 8259), for kernels: MariaDB's JSON columns may hold any text.

Positions are addresses; each is compared with the text's end before it is read.
"""

from keysearch.memory import inline, load_u8, store_u8

MAX_DEPTH = 128
"""Containers around a value, at most: servers allow 100, MariaDB 32. A text that nests deeper is treated as none."""
_QUOTE, _COMMA, _MINUS, _PLUS, _POINT, _COLON, _BACKSLASH = 34, 44, 45, 43, 46, 58, 92
_ARRAY, _ARRAY_END, _OBJECT, _OBJECT_END = 91, 93, 123, 125


@inline
def _behind_space(at, end):
    while at < end:
        byte = load_u8(at)
        if byte != 32 and byte != 10 and byte != 13 and byte != 9:
            break
        at += 1
    return at


@inline
def _is_hexadecimal(byte):
    return 48 <= byte <= 57 or 65 <= byte <= 70 or 97 <= byte <= 102


@inline
def _string_end(at, end):
    """Where the string ends whose first quote is at `at`, 0 if there is none."""
    if at >= end or load_u8(at) != _QUOTE:
        return 0
    at += 1
    while at < end:
        byte = load_u8(at)
        at += 1
        if byte == _QUOTE:
            return at
        if byte < 32:
            return 0
        if byte != _BACKSLASH:
            continue
        if at >= end:
            return 0
        byte = load_u8(at)
        at += 1
        if byte == 117:  # u and four digits
            if end - at < 4:
                return 0
            for _ in range(4):
                if not _is_hexadecimal(load_u8(at)):
                    return 0
                at += 1
        elif byte != _QUOTE and byte != _BACKSLASH and byte != 47 and byte != 98 and byte != 102 and byte != 110 \
                and byte != 114 and byte != 116:  # / b f n r t
            return 0
    return 0


@inline
def _digits_end(at, end):
    while at < end and 48 <= load_u8(at) <= 57:
        at += 1
    return at


@inline
def _number_end(at, end):
    """Where the number at `at` ends, 0 if there is none."""
    if at < end and load_u8(at) == _MINUS:
        at += 1
    first = at
    at = _digits_end(at, end)
    if at == first or (at - first > 1 and load_u8(first) == 48):
        return 0
    if at < end and load_u8(at) == _POINT:
        first = at + 1
        at = _digits_end(first, end)
        if at == first:
            return 0
    if at < end and (load_u8(at) | 32) == 101:  # e
        first = at + 1
        if first < end and (load_u8(first) == _PLUS or load_u8(first) == _MINUS):
            first += 1
        at = _digits_end(first, end)
        if at == first:
            return 0
    return at


@inline
def _word_end(at, end):
    """Where the null, true or false at `at` ends, 0 if there is none."""
    if end - at >= 4:
        a, b, c, d = load_u8(at), load_u8(at + 1), load_u8(at + 2), load_u8(at + 3)
        if (a == 110 and b == 117 and c == 108 and d == 108) or (a == 116 and b == 114 and c == 117 and d == 101):
            return at + 4
        if a == 102 and b == 97 and c == 108 and d == 115 and end - at >= 5 and load_u8(at + 4) == 101:
            return at + 5
    return 0


@inline
def _name_end(at, end):
    """Where the value begins of the member at `at`, 0 if there is none."""
    at = _string_end(at, end)
    if at == 0:
        return 0
    at = _behind_space(at, end)
    if at >= end or load_u8(at) != _COLON:
        return 0
    return _behind_space(at + 1, end)


@inline
def is_document(at, end, stack):
    """Return whether a text is one JSON value with space around it; `stack` has room for MAX_DEPTH bytes."""
    depth = 0
    at = _behind_space(at, end)
    while at < end:
        byte = load_u8(at)
        if byte == _OBJECT or byte == _ARRAY:
            at = _behind_space(at + 1, end)
            if at < end and load_u8(at) == byte + 2:  # the bracket that closes it
                at += 1
            else:
                if depth == MAX_DEPTH:
                    return False
                store_u8(stack + depth, byte + 2)
                depth += 1
                if byte == _OBJECT:
                    at = _name_end(at, end)
                    if at == 0:
                        return False
                continue
        elif byte == _QUOTE:
            at = _string_end(at, end)
        elif byte == _MINUS or 48 <= byte <= 57:
            at = _number_end(at, end)
        else:
            at = _word_end(at, end)
        if at == 0:
            return False
        at = _behind_space(at, end)
        while depth and at < end and load_u8(at) == load_u8(stack + depth - 1):
            depth -= 1
            at = _behind_space(at + 1, end)
        if depth == 0:
            return at == end
        if at >= end or load_u8(at) != _COMMA:
            return False
        at = _behind_space(at + 1, end)
        if load_u8(stack + depth - 1) == _OBJECT_END:
            at = _name_end(at, end)
            if at == 0:
                return False
    return False
