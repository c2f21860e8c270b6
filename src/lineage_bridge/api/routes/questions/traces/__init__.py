"""Routes for column traces, and for who may read and write datasets."""
