"""Code that several kinds of sources share: the interface of an observer, an HTTP client, and a package for each system."""
