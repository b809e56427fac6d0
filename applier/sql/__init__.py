"""SQL expressions: how they are read, and the one evaluator, over whole columns of rows."""

__all__ = [
    "assignment", "calls", "casting", "evaluator", "functions", "grammar", "literal_charsets", "literals",
    "same_expressions", "sql_modes", "tokens", "values",
]
