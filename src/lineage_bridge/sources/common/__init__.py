"""What several kinds of sources share: the protocol of an observer, HTTP, and what is known of each system."""
