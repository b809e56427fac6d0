"""SQL expressions: how they are read, and the one evaluator, over whole columns of rows."""
