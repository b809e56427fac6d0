"""Paths against what MySQL 9.7 prints and takes, and against themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jsondiff.path import Cell, Member, Path, PathError, is_identifier, parse

characters = st.characters(exclude_categories=["Cs"])
legs = st.builds(Member, st.text(characters)) | st.builds(Cell, st.integers(0, 2**32 - 1), st.booleans())
paths = st.lists(legs, max_size=8).map(lambda parts: Path(tuple(parts)))


@given(paths)
def test_what_is_printed_reads_back(path):
    assert parse(str(path)) == path


READ = [
    ("$", "$"), (" $ ", "$"), ("$.a", "$.a"), ('$."a"', "$.a"), ('$."a b"', '$."a b"'), ("$.$", "$.$"),
    ("$._", "$._"), ('$.""', '$.""'), ("$[0]", "$[0]"), ("$ . a [ 1 ] ", "$.a[1]"), ("$[00012]", "$[12]"),
    ("$[last]", "$[last]"), ("$[last-0]", "$[last]"), ("$[ last - 2 ]", "$[last-2]"), ("$.last", "$.last"),
    ("$[4294967295]", "$[4294967295]"), ('$."1"', '$."1"'), ("$.a1", "$.a1"), ("$.é", "$.é"), ("$.日", "$.日"),
    ('$."日本"', '$."日本"'), ('$."😀"', '$."😀"'), ('$."a\\"b"', '$."a\\"b"'), ('$."a\\\\b"', '$."a\\\\b"'),
    ('$."\\n\\u0001\\/"', '$."\\n\\u0001/"'), ("$.a\\u0062", "$.ab"), ('$."\\ud83d\\ude01"', '$."😁"'),
    ('$.""."x"', '$."".x'), ("$\t.a\v[\f0\r]\n", "$.a[0]"), ("$.a\u00a0", "$.a\u00a0"),
]  # fmt: skip
NOT_READ = [
    "$.a]", "$.a-b", "$.1", "", "a", "$a", "$$", "$.", "$..a", "$[", "$[]", "$[0", "$[-1]", "$[+1]", "$[4294967296]",
    "$[a]", "$[lastly]", "$[last-]", "$[last+1]", "$[ 0 1]", '$."a', '$."a\\"', '$."a\nb"', '$."\\x"', '$."\\ud800"',
    '$."\\udc00"', '$.a"b', "$.*", "$[*]", "$**.a", "$[0 to 1]", "$[last-1 to last]", "$.本", "$.a\\", "$.a b", "$[٣]",
    "$.\u0301a",
]  # fmt: skip
MANY_PLACES = ["$.*", "$[*]", "$**.a", "$[0 to 1]", "$[last-1 to last]"]


@pytest.mark.parametrize("text, printed", READ)
def test_paths_are_printed_as_the_server_prints_them(text, printed):
    assert str(parse(text)) == printed


@pytest.mark.parametrize("text", NOT_READ)
def test_what_is_no_path_to_one_place_is_refused(text):
    """JD-SAFE2."""
    with pytest.raises(PathError):
        parse(text)


def test_wildcards_and_ranges_are_named_in_the_error():
    """They are paths, but none that a diff can follow."""
    for text in MANY_PLACES:
        with pytest.raises(PathError, match=r"many places.* at character"):
            parse(text)


def test_which_characters_are_of_an_identifier():
    """The characters up to U+FFFF as MySQL 9.7's JSON_SEARCH quotes them, alone and behind an a: counts and samples."""
    every = [chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000]
    assert sum(is_identifier(c) for c in every) == 44_353
    assert sum(is_identifier("a" + c) for c in every) == 46_940
    assert all(map(is_identifier, "$_aZé日Ł")) and not any(map(is_identifier, ["", "1", *"本ÿĀ\u0301\u200d"]))
    assert all(is_identifier("a" + c) for c in "19\u0300\u200c\u200d\u203f\u2040\uff3f")
    assert not any(is_identifier("a" + c) for c in "-ÿ本\u203a")


def test_cells_of_arrays():
    """Past the end is the end; counted back past the start is the start."""
    assert [Cell(n).position(3) for n in (0, 2, 3, 9)] == [0, 2, 3, 3]
    assert [Cell(n, True).position(3) for n in (0, 2, 3, 9)] == [2, 0, 0, 0]
    assert Cell(0).position(0) == Cell(0, True).position(0) == 0
