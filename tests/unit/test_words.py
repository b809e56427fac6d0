"""One word for one thing, and plain English: words that the glossary replaced do not come back (docs/GLOSSARY.md)."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = next(parent for parent in Path(__file__).resolve().parents if (parent / "setup.cfg").exists())
BANNED = {
    r"nurser(?:y|ies)": "daemon",
    r"stand-ins?": "placeholder",
    r"how manieth": "0-based number",
    r"of whose": "whose, in a sentence of its own",
    r"what (?:comes|came|becomes) of it": "the result",
    r"comes? about": "is made",
    r"slip of the pen": "typing error",
    r"settl(?:es?|ed|ing)": "finish",
    r"liars?": "misdescribed",
    r"stretch(?:es|ed)?": "log segment, range, or part",
    r"spool(?:s|ed|ing)?": "spill buffer, or copy",
    r"arenas?": "buffer",
    r"moments?": "time, timestamp or datetime",
    r"piece|\w+_pieces?": "part, segment or chunk",
    r"patche[sd]": "column pointers",
    r"voids|(?:is|are) void": "rolled back",
    r"tie[sd]? (?:to|together)": "connected, or in a foreign-key group",
    r"lifeline": "parent's pipe",
    r"last words": "end of the log",
    r"marked dates?": "invalid date",
    r"forgave|forgiven?|forgives": "suppressed",
    r"no[ _]days?": "invalid date",
    r"odd_bytes": "undecodable",
    r"blockers?": "unreplayable event",
    r"no calendar has": "invalid date",
    r"what there is of": "the rest of, or nothing",
    r"of which some": "some of which",
    r"holds? no more": "past, of a versioned row",
    r"shall": "is to",
    r"lets go": "drops, or removes",
    r"is no (?:date|time|year|number|position|text|list|set|name)\b": "is not a …",
    r"below the log": "outside the log",
    r"passed over|passes over|passing over": "skipped",
    r"(?:go|goes|going|went) on\b(?! `)": "continue",
    r"lines? for people": "notes for the user",
    r"made out of": "made from",
    r"by now": "now",
    r"to be had": "available",
    r"told of": "reported, or notified of",
    r"nothing of it": "say what does not",
    r"as (?:it|they) lies?": "as stored",
    r"in the order of the log": "in log order",
    r"(?:is|are) taken for": "treated as",
    r"an? (?:line|file|task|row|table|unit|column|page) (?:a|an|each) "
    r"(?:change|table|unit|row|core|batch|file|step|round)":
        "one … per …",
    r"who (?:asks|reads|needs|compiles|calls|takes)": "a reader, or a caller",
    r"complete or (?:it is )?not there": "atomic",
    r"what is wrong": "the error, or the fault",
    r"rows? that (?:is|are) there": "existing row",
}
"""Words, as whole words in any case, and what to say instead: also the phrases of a dialect that was translated."""
TOPS = ("applier", "benchmarks", "jsondiff", "keysearch", "docs", "tests")
FILES = sorted([path for top in TOPS for path in (ROOT / top).rglob("*") if path.suffix in (".py", ".md")
                and path != Path(__file__).resolve()]
               + [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"])


@cache
def texts():
    return {path: path.read_text().lower() for path in FILES}


@pytest.mark.parametrize("word", BANNED)
def test_a_word_that_was_replaced_stays_away(word):
    """In code, comments, messages and docs."""
    quick, pattern = re.compile(word), re.compile(rf"(?<![a-z])(?:{word})(?![a-z])")
    found = [f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
             for path, text in texts().items() if quick.search(text)
             for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]
    assert not found, f"say {BANNED[word]!r}:\n" + "\n".join(found)
