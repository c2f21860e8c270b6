"""Amazon's MSK Connect as a source."""
