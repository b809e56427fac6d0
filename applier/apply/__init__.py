"""Applying row changes to a unit by pointer."""
