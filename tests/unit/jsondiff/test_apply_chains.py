"""Long chains of diffs on many documents at once, against the plain form, with buffers that are too short."""

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jsondiff import apply
from jsondiff.apply import apply_diffs, explain
from jsondiff.diff import Operation
from jsondiff.encode import encode
from jsondiff.kernels import apply_kernel, wire_kernel
from jsondiff.text import from_text, to_text
from tests.fuzz import fuzz_diffs
from tests.support import random_diffs
from tests.support.examples import examples
from tests.unit.jsondiff.test_apply import applied, column, one

REPLACE, INSERT, REMOVE = Operation


def outcomes(documents: list[str | None], chains: list[list[bytes]]) -> list[tuple]:
    """What random_diffs.outcome says, of each document."""
    result = applied(documents, chains)
    result.texts.validate(full=True)
    starts = np.cumsum([0, *map(len, chains)])
    return [
        (text, failed - start if failed >= 0 else -1, number, explain(code)[0] if code else 0)
        for text, failed, start, number, code in zip(
            result.texts.to_pylist(), result.failed, starts, result.numbers, result.codes
        )
    ]


@pytest.mark.parametrize("slack", [apply.SLACK, 8])
def test_chains_have_the_outcome_of_the_plain_form(monkeypatch, slack):
    monkeypatch.setattr(apply, "SLACK", slack)
    dice = random.Random(slack)
    made = [encode(random_diffs.document(dice)) for _ in range(120)]
    chains = [random_diffs.chain(dice, binary, dice.choice((0, 1, 3, 10, 60))) for binary in made]
    expected = [random_diffs.outcome(binary, values) for binary, values in zip(made, chains)]
    assert outcomes([random_diffs.outcome(binary, [])[0] for binary in made], chains) == expected
    failed = sum(errno == 3648 for *_, errno in expected)
    assert 15 < failed < 100 and sum(map(len, chains)) > 500


def test_a_long_chain_takes_the_room_of_a_short_one(monkeypatch):
    """What earlier diffs left behind is thrown away."""
    sizes, enlarged = [], apply.enlarged
    monkeypatch.setattr(apply, "enlarged", lambda *given: sizes.append(given[2]) or enlarged(*given))
    text = to_text({f"k{i}": "x" * 100 for i in range(100)} | {"n": 0})
    values = [column((REPLACE, f"$.k{i % 90}", "y" * 1000), (REPLACE, "$.n", i)) for i in range(3000)]
    after = from_text(text)
    for i in range(3000):
        after |= {f"k{i % 90}": "y" * 1000, "n": i}
    result = applied([text, text], [values, values[:1]])
    assert result.texts[0].as_py() == to_text(after)
    assert max(sizes) < 800_000


@pytest.mark.parametrize("slack", range(8, 16))
def test_the_room_for_values_ends_at_any_insert(monkeypatch, slack):
    monkeypatch.setattr(apply, "SLACK", slack)
    inserts = [column((INSERT, f"$.k{i}", i), (INSERT, "$.k[0]", i)) for i in range(40)]
    [(text, *_)] = outcomes([to_text({"k": []})], [inserts])
    assert from_text(text) == {"k": [*range(39, -1, -1)]} | {f"k{i}": i for i in range(40)}


def test_wide_objects_and_arrays():
    text = to_text({"a": {f"k{i}": i for i in range(3000)}, "b": list(range(3000))})
    document = from_text(text)
    values = []
    for i in range(0, 3000, 7):
        values += [column((REMOVE, f"$.a.k{i}")), column((INSERT, f"$.a.new{i}", i), (INSERT, f"$.b[{i}]", -i))]
        del document["a"][f"k{i}"]
        document["a"][f"new{i}"] = i
        document["b"].insert(i, -i)
    assert one(text, *values) == to_text(document)


def test_depth():
    deep = "[" * 99 + "]" * 99
    path = "$" + "[0]" * 98
    assert one(deep, column((INSERT, path + "[0]", []))) == "[" * 100 + "]" * 100
    assert one(deep, column((INSERT, path + "[0]", [[]]))) == 3157
    assert one(deep, column((INSERT, path + "[0]", ["", [], ""]))) == 3157
    assert one(deep, column((INSERT, path + "[0]", [1]))) == "[" * 100 + "1" + "]" * 100
    hundred = column((INSERT, path + "[0]", []), (INSERT, path + "[0][0]", 1), (REPLACE, path + "[0][0]", "]"))
    assert one(deep, hundred) == "[" * 100 + '"]"' + "]" * 100
    passing = column((INSERT, path + "[0]", [[]]), (REMOVE, path + "[0]"))
    assert one(deep, passing) == deep  # as on a server: what counts is the document after a value's diffs
    assert one(deep, hundred, column((REPLACE, path + "[0][0]", {}))) == 3157
    assert one(deep, column((REMOVE, path + "[0]" * 3))) == 3648


def test_names():
    assert one("{}", column((INSERT, '$."' + "n" * 65535 + '"', 1))) == '{"' + "n" * 65535 + '": 1}'
    assert one("{}", column((INSERT, '$."' + "n" * 65536 + '"', 1))) == 3151
    escaped = '{"\\"": 1, "\\\\": 2, "\\b": 3, "\\u001f": 4, "é": 5, "\\u0000\\n": 6}'
    canonical = to_text(from_text(escaped))
    for name, path in (("\\b", '"\\b"'), ("\\u001f", '"\\u001F"'), ("é", '"\\u00e9"'), ("\\\\", '"\\\\"')):
        found = column((REPLACE, f"$.{path}", "found"))
        assert one(canonical, found) == canonical.replace(canonical[canonical.index(f'"{name}": '):][:len(name) + 5],
                                                           f'"{name}": "found"')  # fmt: skip
    assert one('{"😀": 1}', b"\x02\x10" + b'$."\\ud83d\\ude00"') == "{}"
    assert one('{"\U00010000": 1}', b"\x02\x10" + b'$."\\ud800\\udc00"') == "{}"
    assert one('{"\U0010ffff": 1}', b"\x02\x10" + b'$."\\udbff\\udfff"') == "{}"
    assert one('{"😀": 1}', b"\x02\x0a" + b'$."\\ud83d"') == 3649


@pytest.mark.parametrize(
    "text",
    ['{"a"; 1}', '{"a": }', '{"a": 1, }', '{"a": 1', '{"a', "[1,2]", '{"a": 1]', '{"a": 1}}', '{"a": 1, "a": 2}',
     '{a": 1}', '{"\\x": 1}', '{"a\\u12": 1}', "", "[", "{", '{"', '{"a": "\\'],
)  # fmt: skip
def test_a_document_that_mysql_would_not_print_is_refused(text):
    values = column((INSERT, "$[0]" if text.startswith("[") else "$.b", 1))
    assert one(text, values) == 3140


def test_bytes_that_are_no_text():
    documents = pa.array([b'{"a": "\xff"}', b'{"a": 1}'], pa.binary())
    documents = pa.Array.from_buffers(pa.string(), 2, documents.buffers())
    diffs = [column((REMOVE, "$.a")), b"\x00\x03$.a\x04\x0c\x02\xc3\x28", b"\x02\x05$.a\xc3\x28"]
    result = apply_diffs(documents, pa.array(diffs, pa.binary()), [0, 1, 2])
    assert [explain(code)[0] for code in result.codes] == [3140, 3649]
    assert one('{"a": 1}', diffs[2]) == 3649


@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_documents_that_begin_as_others_end(data):
    """Rows of one document over time: each is what the whole chain makes of the first text, failures too."""
    texts, chains, bases = [], [], []
    for number in range(data.draw(st.integers(1, 8))):
        texts.append(data.draw(st.sampled_from(['{"a": 1}', '{"a": [1, 2]}', "[3]", None, "[oops"])))
        chains.append(data.draw(st.lists(st.sampled_from([
            b"", column((REPLACE, "$.a", "é" * 40)), column((REMOVE, "$.a")), column((INSERT, "$.b", [1])),
            column((REPLACE, "$.a", 5), (REMOVE, "$.b")), b"\x09"]), max_size=3)))
        bases.append(data.draw(st.integers(-1, number - 1)))

    def whole(row):
        return (texts[row], chains[row]) if bases[row] < 0 else (
            whole(bases[row])[0], whole(bases[row])[1] + chains[row])

    def applied(texts, chains, bases=None):
        values = pa.array([value for chain in chains for value in chain], pa.binary())
        return apply_diffs(pa.array(texts, pa.string()), values, np.cumsum([0, *map(len, chains)]), bases)

    found = applied(texts, chains, np.array(bases))
    expected = applied(*zip(*map(whole, range(len(texts))), strict=True))
    assert found.texts.to_pylist() == expected.texts.to_pylist()
    assert found.codes.tolist() == expected.codes.tolist() and found.numbers.tolist() == expected.numbers.tolist()
    assert [code > 0 for code in found.codes] == [value >= 0 for value in found.failed]


def test_columns_of_every_kind_and_what_cannot_be():
    texts, diffs = ["[1]", None, "[2]"], [b"", column((REMOVE, "$[0]")), column((INSERT, "$[0]", "é"))]
    for text_type in (pa.string(), pa.large_string()):
        for binary_type in (pa.binary(), pa.large_binary()):
            documents, values = pa.array(texts, text_type), pa.array([b"?", *diffs], binary_type)[1:]
            assert apply_diffs(documents, values, [0, 1, 2, 3]).texts.to_pylist() == ["[1]", None, '["é", 2]']
            assert apply_diffs(documents[2:], values, [1, 3]).texts.to_pylist() == ['["é"]']
    assert len(apply_diffs(documents[:0], values, [0]).texts) == 0
    assert apply_diffs(documents, values[:0], [0, 0, 0, 0]).texts.to_pylist() == texts
    for chains in ([0], [0, 1, 2, 4], [0, 2, 1, 3], [-1, 0, 0, 0]):
        with pytest.raises(ValueError, match="chains must be"):
            apply_diffs(documents, values, chains)
    for bases in ([0, -1, -1], [-1, -1], [-1, 0, -2]):
        with pytest.raises(ValueError, match="bases must be"):
            apply_diffs(documents, values, [0, 1, 2, 3], np.array(bases))
    assert len(apply_kernel.apply_chains.signatures) == len(wire_kernel.find_documents.signatures) == 1


@pytest.mark.thorough
@pytest.mark.slow
def test_no_mutant_of_a_document_or_its_diffs_breaks_the_kernels():
    """`make fuzz` takes 100,000."""
    assert fuzz_diffs.main(1000) == 0


def test_the_fuzzer_names_what_broke(monkeypatch, capsys):
    made = [fuzz_diffs.mutant(number) for number in range(20)]
    assert made == [fuzz_diffs.mutant(number) for number in range(20)]
    monkeypatch.setattr(fuzz_diffs, "outcomes", lambda mutants: [("null", 0, 0, 1) for _ in mutants])
    assert fuzz_diffs.main(20) == 1
    assert "diffs, number 3: " in capsys.readouterr().out
