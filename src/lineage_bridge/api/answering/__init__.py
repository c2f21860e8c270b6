"""Answers questions: limits them by their cost, asks a second time if events were missing, and streams large answers."""
