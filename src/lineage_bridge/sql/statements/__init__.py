"""What statements define, read and write."""
