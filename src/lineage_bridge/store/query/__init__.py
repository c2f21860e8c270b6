"""The SQL queries about nodes and flows that the kinds of questions share."""
