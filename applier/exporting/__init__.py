"""Snapshots as files that a server loads."""
