"""From outlines to work: which part of the log counts, what each table was there, and who applies which keys."""
