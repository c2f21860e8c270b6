"""SQL queries of jobs, as far as the reading of events needs them."""
