"""Tools that need a running server: they are run by hand and are no part of any suite."""
