"""Binlog files: archive, events, outline, row images."""
