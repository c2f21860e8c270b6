"""The audit log: reports who changed what, and triggers early polls."""
