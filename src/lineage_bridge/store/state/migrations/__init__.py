"""The history of the state database's schema."""
