"""Rows over an ALTER TABLE: whole columns of one type become columns of another, as the servers do it."""
