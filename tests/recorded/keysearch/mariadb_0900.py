"""The strings that record_mariadb_0900.py has a server compare: letters of Europe and Vietnam, and the pairs of letters
that languages sort as one."""

import pathlib

TRUTH = pathlib.Path(__file__).with_name("mariadb_0900.json.gz")
_POINTS = (*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x250), *range(0x1E00, 0x1F00))
_LETTERS = [chr(point) for point in _POINTS if chr(point).isalpha()]
_PAIRS = ["aa", "ae", "oe", "ij", "ch", "ll", "dz", "dž", "lj", "nj", "cs", "dzs", "gy", "ly", "ny", "sz", "ty", "zs",
          "ss", "th", "ccs", "ddz", "y", "i", "ý", "ł", "a ", "", " "]
STRINGS = [*_LETTERS, *_PAIRS, *(pair.upper() for pair in _PAIRS), *(pair.title() for pair in _PAIRS)]
