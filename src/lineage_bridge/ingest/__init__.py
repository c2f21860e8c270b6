"""Taking events in, for any transport: mask secrets, split, judge, append to the log."""
