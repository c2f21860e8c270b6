"""Browsers: requests as a proxy passes them on, and logins."""
