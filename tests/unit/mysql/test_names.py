"""Names without regard to case, as MySQL 9.7 and MariaDB 10.5 and 10.11 compare those of columns and indexes: recorded
by CREATE TABLEs with both of them."""

import pytest

from applier.mysql.names import folded


@pytest.mark.parametrize(("a", "b"), [("K1", "k1"), ("é", "É"), ("İ", "i"), ("Å", "å"), ("K", "k"), ("а", "А"),
                                      ("Ⅷ", "ⅷ"), ("ⓐ", "Ⓐ")])
def test_one_name(a, b):
    assert folded(a) == folded(b)


@pytest.mark.parametrize(("a", "b"), [("e", "é"), ("ä", "a"), ("ı", "i"), ("ı", "I"), ("ß", "ss"), ("ß", "s"),
                                      ("ſ", "s"), ("σ", "ς"), ("Σ", "ς"), ("µ", "μ"), ("ё", "е"), ("ẞ", "ß"),
                                      ("Ა", "ა"), ("Ꭰ", "ꭰ")])
def test_two_names(a, b):
    assert folded(a) != folded(b)
