"""The cache of what merged reads opened: what it holds, and what it counts."""

from contextlib import nullcontext

from applier.snapshot.lake.recent_values import Recent


def get(cache, key, make):
    return cache.get(key, make, lambda _: 60)


def test_a_value_that_two_made_counts_once():
    """One that waited for a value that was dropped at once makes it again, and so may a third that came later."""
    cache = Recent(10, 150, making={"k": nullcontext()})
    assert get(cache, "k", lambda: get(cache, "k", lambda: "made")) == "made"
    assert get(cache, "other", lambda: "more") == "more"
    assert get(cache, "k", lambda: "made again") == "made", "both have room"
