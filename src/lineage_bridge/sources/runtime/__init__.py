"""Runs sources: polls them, extracts from them in tasks, delivers their events, and keeps sealed secrets."""
