"""Which function computes a call, and the kinds of functions that share a rule about their arguments."""

from __future__ import annotations

from applier.sql.functions import (
    arithmetic,
    bits,
    choices,
    codes,
    conditions,
    flow_control,
    geometry,
    letter_cases,
    powers,
    roundings,
    searches,
    sounds,
    text_forms,
    texts,
)
from applier.sql.functions.dates import calendars, clock_texts, clocks, current, forms, sums, times
from applier.sql.functions.json_documents import loose_documents

FUNCTIONS = (arithmetic.FUNCTIONS | conditions.FUNCTIONS | flow_control.FUNCTIONS | texts.FUNCTIONS | current.FUNCTIONS
             | times.FUNCTIONS | geometry.FUNCTIONS | calendars.FUNCTIONS | text_forms.FUNCTIONS | searches.FUNCTIONS
             | bits.FUNCTIONS | codes.FUNCTIONS | choices.FUNCTIONS | clock_texts.FUNCTIONS | clocks.FUNCTIONS
             | sums.FUNCTIONS | forms.FUNCTIONS | letter_cases.FUNCTIONS | powers.FUNCTIONS | roundings.FUNCTIONS
             | sounds.FUNCTIONS | loose_documents.FUNCTIONS)
OF_STRINGS = frozenset({
    "CONCAT", "CONCAT_WS", "LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "ELT", "MAKE_SET",
    "EXPORT_SET", "=", "<>", "<", "<=", ">", ">=", "<=>", "IN", "BETWEEN", "LIKE", "REGEXP", "LOCATE", "INSTR",
    "REGEXP_REPLACE", "REGEXP_SUBSTR", "REGEXP_INSTR", "STRCMP", "FIND_IN_SET", "FIELD", "COALESCE", "IFNULL", "NULLIF",
    "GREATEST", "LEAST"})
"""Functions of strings that have one collation, or are bytes, together."""
OF_BYTES = frozenset({"CONCAT", "CONCAT_WS", "LPAD", "RPAD", "INSERT", "REPLACE", "TRIM", "SUBSTRING_INDEX", "UPPER",
                      "LOWER", "LEFT", "RIGHT", "SUBSTRING", "REVERSE", "LENGTH"})
"""Functions of strings for which a BIT is its bytes."""
COUNTS = {"LEFT": (1,), "RIGHT": (1,), "LPAD": (1,), "RPAD": (1,), "SUBSTRING": (1, 2), "INSERT": (1, 2),
          "SUBSTRING_INDEX": (2,), "ELT": (0,), "MAKE_SET": (0,), "EXPORT_SET": (0, 4), "LOCATE": (2,)}
"""The arguments of these that are numbers."""
CHOICES = frozenset({"CASE", "SIMPLE CASE", "IF"})
"""Functions that choose one of several values."""
LENGTHENING = frozenset({"LPAD", "RPAD", "REPLACE", "REPEAT"})
"""Functions that may make more bytes than their arguments have."""
NOT_LENGTHENING = CHOICES | (OF_BYTES - LENGTHENING) | {
    "COALESCE", "IFNULL", "NULLIF", "GREATEST", "LEAST", "ELT"}
"""Functions that make no more bytes than all their arguments have together."""
