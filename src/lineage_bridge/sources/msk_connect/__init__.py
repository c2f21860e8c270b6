"""The source for Amazon's MSK Connect."""
