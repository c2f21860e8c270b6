"""SQL queries about nodes and flows that several kinds of questions share."""
