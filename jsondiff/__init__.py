"""MySQL's binary JSON: decode it to the text that the server prints. Stands alone: imports nothing of the applier."""
