"""What is known of a collation while it is recorded by record_weights.py, and how it is learnt from a server.

A language's collation is what it changes in that of its family: characters of other weights, weights that are others
throughout, and strings that weigh something else together than one by one. Those are sought among pairs of letters of
one script, of a letter and a mark, of what letters decompose to, and then by adding a character to what was found.
"""

import random
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence

from tests.recorded.keysearch.weights_of_server import Levels, Server, Weights


class Collation:
    """What a collation's characters and strings weigh: what it says itself, and else its parent, whose weights may be
    others here throughout (remaps)."""

    def __init__(self, name: str, n_levels: int, parent: "Collation | None" = None):
        self.name, self.n_levels, self.parent = name, n_levels, parent
        self.own: dict[str, Levels] = {}
        self.remaps: list[dict[int, int]] = [{} for _ in range(n_levels)]
        self.joined: set[str] = set(parent.joined) if parent else set()

    def of(self, string: str) -> Levels:
        """What one character weighs, or a string that has weights of its own."""
        if (found := self.own.get(string)) is not None:
            return found
        if self.parent is None:
            raise KeyError(string)
        return tuple(remapped(weights, remap) for weights, remap in
                     zip(self.parent.of(string)[:self.n_levels], self.remaps, strict=True))

    def weights(self, text: str) -> Levels:
        """What a string weighs: the longest strings that have weights of their own, from its beginning on."""
        parts, at = [], 0
        while at < len(text):
            most = min(self.longest, len(text) - at)
            length = next((n for n in range(most, 1, -1) if text[at:at + n] in self.joined), 1)
            parts.append(self.of(text[at:at + length]))
            at += length
        return tuple(tuple(weight for part in parts for weight in part[level]) for level in range(self.n_levels))

    def learn(self, found: dict[str, Levels]) -> list[str]:
        """Note what strings weigh where that is unknown yet. Returns these."""
        new = []
        for text in sorted(found, key=len):
            self.longest = max(map(len, self.joined), default=1)
            if self.weights(text) != found[text]:
                self.own[text] = found[text]
                new.append(text)
                if len(text) > 1:
                    self.joined.add(text)
        self.longest = max(map(len, self.joined), default=1)
        return new

    def learn_remaps(self, found: dict[str, Levels], totals: list[Counter]) -> None:
        """Take a parent's weight for another one where most characters that have it have that one here."""
        for level in range(self.n_levels):
            votes: defaultdict[int, Counter] = defaultdict(Counter)
            for text, levels in found.items():
                before, after = self.parent.of(text)[level], levels[level]
                if len(before) == len(after):
                    for i, (a, b) in enumerate(zip(before, after, strict=True)):
                        if not is_tail(before, i):
                            votes[a][b] += 1
            for weight, counted in votes.items():
                changed = sum(counted.values())
                other, most = counted.most_common(1)[0]
                if other != weight and most > totals[level][weight] - changed and most > 2:
                    self.remaps[level][weight] = other

    def totals(self) -> list[Counter]:
        """How often each weight is in the weights of single characters, by level."""
        counted = [Counter() for _ in range(self.n_levels)]
        for text, levels in self.own.items():
            if len(text) == 1:
                for level, weights in enumerate(levels):
                    counted[level].update(w for i, w in enumerate(weights) if not is_tail(weights, i))
        return counted


def is_tail(weights: Weights, i: int) -> bool:
    """Return whether a weight is the second one of those that UCA makes from a character's number."""
    return i > 0 and 0xFB00 <= weights[i - 1] <= 0xFBFF and not (i > 1 and 0xFB00 <= weights[i - 2] <= 0xFBFF)


def remapped(weights: Weights, remap: dict[int, int]) -> Weights:
    if not remap:
        return weights
    return tuple(w if is_tail(weights, i) else remap.get(w, w) for i, w in enumerate(weights))


def record_base(server: Server, name: str, collation: str, n_levels: int, seeks: bool) -> Collation:
    """A collation that has no parent."""
    base = Collation(name, n_levels)
    base.own = server.characters(collation, n_levels)
    base.longest = 1
    if seeks:
        found = server.all_joined(collation)
        grow(server, base, collation, base.learn(server.strings(found, collation, n_levels)), near=128)
    return base


def record_child(server: Server, name: str, collation: str, like: str, n_levels: int, parent: Collation,
                 totals: list[Counter]) -> Collation:
    """A language's collation, as what it changes in its parent."""
    child = Collation(name, n_levels, parent)
    found = server.characters(collation, n_levels, like)
    child.learn_remaps(found, totals)
    moved = any(child.remaps)
    child.longest = 1
    child.own = {text: levels for text, levels in found.items() if child.of(text) != levels}
    if moved:  # what did not change on the server may have here
        whole = found.keys()
        kept = {text: levels for text, levels in parent.own.items()
                if len(text) == 1 and text not in whole and child.of(text) != levels[:n_levels]}
        child.own |= {text: levels[:n_levels] for text, levels in kept.items()}
    child.longest = max(map(len, child.joined), default=1)
    strings = set(server.joined(collation)) | parent.joined
    for text in [text for text in child.own if len(text) == 1][:3000]:
        strings |= set(decompositions(text))
    found = server.strings(strings, collation, n_levels)
    grow(server, child, collation, child.learn(found))
    return child


def decompositions(text: str) -> list[str]:
    """A character as others and marks, in all ways."""
    found, last = [], text
    while (parts := unicodedata.decomposition(last[0])) and not parts.startswith("<"):
        last = "".join(chr(int(part, 16)) for part in parts.split()) + last[1:]
        found.append(last)
    return [one for one in found if len(one) > 1]


def grow(server: Server, collation: Collation, name: str, found: list[str], near: int = 0x110000) -> None:
    """Look for longer strings: one that was found, and a character before or behind it."""
    found = [text for text in found if len(text) > 1]
    singles = {text for text in collation.own if len(text) == 1}
    singles = singles if len(singles) < 300 else set()
    while found:
        some = sorted({c for text in collation.joined & set(collation.own) for c in text} | set("".join(found)) |
                      singles)
        longer = {text for one in found for c in some
                  if abs(ord(c) - ord(one[0])) < near or ord(c) in range(0x300, 0x370)
                  for text in (one + c, c + one)}
        if len(longer) > 600_000:
            raise SystemExit(f"{name}: {len(longer)} candidates")
        found = [text for text in collation.learn(server.strings(longer, name, collation.n_levels)) if len(text) > 1]
        print(name, "longer:", len(longer), len(found), found[:5], flush=True)


def check(server: Server, collation: Collation, name: str, n_levels: int | None = None, count: int = 4000,
          levels: Sequence[int] | None = None) -> int:
    """Return how many random strings weigh something else on the server."""
    choose = random.Random(name)
    own = [text for text in collation.own if len(text) > 1] or ["ch"]
    changed = [text for text in collation.own if len(text) == 1]
    changed = choose.sample(changed, min(len(changed), 300)) or ["a"]
    parents = sorted(collation.joined)
    few = ["a", "C", "s", "z", " ", "\u0301", "\u0308", "\u030c", "\u4e00", "\u20000", "\u00e9", "-", "\u044f"]
    letters = sorted(set("".join(own)))
    strings = set()
    for _ in range(count):
        kinds = choose.choices([own, changed, few, letters, parents or own], [3, 2, 1, 3, 1], k=choose.randrange(1, 5))
        strings.add("".join(choose.choice(kind) for kind in kinds)[:12])
    found = server.strings(strings, name, n_levels or collation.n_levels)
    levels = levels or range(collation.n_levels)
    wrong = [text for text, said in found.items()
             if said != tuple(collation.weights(text)[level] for level in levels)]
    for text in wrong[:4]:
        print("   WRONG", name, ascii(text), found[text], collation.weights(text))
    return len(wrong)
