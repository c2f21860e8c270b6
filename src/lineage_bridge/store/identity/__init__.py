"""Which names stand for one dataset or job, as the store finds it."""
