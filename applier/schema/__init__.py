"""Table definitions and their history."""
