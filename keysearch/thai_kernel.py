# mypy: allow-untyped-defs, no-check-untyped-defs
"""The kernel that brings strings of tis620_thai_ci into the form that servers compare.

ASCII letters become lower case. A vowel that is written before its consonant is moved behind it. A sign above a letter
(garan, taikhu, the tones) is moved to the string's end, as a byte that says which sign it is and how many letters are
before it. Each such sign overwrites the one before it there, and its own position is not filled: servers do so, too,
and treat strings that differ only there as equal.
"""

import numpy as np

from keysearch.memory import inline, kernel, load_u8, store_u8

_FIRST_CONSONANT, _LAST_CONSONANT = 0xA1, 0xCE
_FIRST_VOWEL, _LAST_VOWEL = 0xE0, 0xE4
"""The vowels that are written before their consonant."""
_TAIKHU, _GARAN = 0xE7, 0xEC
_SIGNS = 248
"""Where the bytes of signs count from, down by eight for each letter before a sign."""
_NOT_IN_SET = 0xA0


@kernel
def put_in_order(starts, ends, source, pads, to, offsets):
    """Write the forms of the strings source+starts[i] … source+ends[i], UTF-8, one behind the other.

    pads: trailing spaces do not count; if False, nothing counts from a byte 0 on. String i's form goes to `to` +
    offsets[i] and ends at offsets[i + 1]; it is no longer than the string. A character that TIS-620 does not have is
    0xA0.
    """
    offsets[0] = 0
    for row in range(starts.shape[0]):
        at, end, put = source + starts[row], source + ends[row], to + offsets[row]
        first = put
        while at < end:
            byte = load_u8(at)
            if byte < 0x80:
                code, length = byte, 1
            elif byte == 0xC2 and end - at >= 2:
                code, length = load_u8(at + 1), 2
            elif byte == 0xE0 and end - at >= 3 and load_u8(at + 1) >> np.uint8(1) == 0xB8 >> 1:
                code, length = (load_u8(at + 1) & np.uint8(1)) << np.uint8(6) | load_u8(at + 2) & np.uint8(0x3F), 3
                code += np.uint8(0xA0)
            else:
                code, length = np.uint8(_NOT_IN_SET), 1 if byte < 0xE0 else 3
            store_u8(put, np.uint8(code))
            put += 1
            at += length
        _order(first, put - first)
        if pads:
            while put > first and load_u8(put - 1) == 0x20:
                put -= 1
        else:
            form, put = put, first
            while put < form and load_u8(put) != 0:
                put += 1
        offsets[row + 1] = put - to


@inline
def _order(text, length):
    """Bring a string of TIS-620 into its form, in place."""
    at, left, sign = text, length, np.int64(_SIGNS)
    while left > 0:
        code = np.int64(load_u8(at))
        if code < 0x80:
            sign -= 8
            if 0x41 <= code <= 0x5A:
                store_u8(at, np.uint8(code + 0x20))
        elif _FIRST_CONSONANT <= code <= _LAST_CONSONANT:
            sign -= 8
        elif _FIRST_VOWEL <= code <= _LAST_VOWEL and left > 1 and \
                _FIRST_CONSONANT <= load_u8(at + 1) <= _LAST_CONSONANT:
            store_u8(at, load_u8(at + 1))
            at += 1
            store_u8(at, np.uint8(code))
            left -= 1
        elif _TAIKHU <= code <= _GARAN:
            for i in range(left - 1):
                store_u8(at + i, load_u8(at + i + 1))
            number = 1 if code == _GARAN else code - _TAIKHU + 2
            store_u8(text + length - 1, np.uint8((sign + number) & 0xFF))
            at -= 1
        at += 1
        left -= 1
