"""Tests, and what they share. docs/TESTING.md says what is where."""
