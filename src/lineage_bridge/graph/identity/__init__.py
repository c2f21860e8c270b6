"""Which names stand for one dataset or job."""
