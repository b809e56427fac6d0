"""Files, wherever they are."""
