"""The routes of the API, grouped by purpose."""
