"""From a log record to rows of the relations."""
