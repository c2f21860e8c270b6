"""Routes for erasures from the data folder."""
