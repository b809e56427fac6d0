"""What a log and a schema both know: types, character sets, collations, time zones, dates that are none."""
