"""Runs sources: polling, extraction tasks, the outbox, sealed secrets."""
