"""Choosing the key that finds a row, and searching by it. Stands alone: imports nothing of the applier."""
