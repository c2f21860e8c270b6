"""What several kinds of sources share: the interface of an observer, an HTTP client, and the knowledge about each system."""
