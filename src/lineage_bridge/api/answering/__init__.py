"""Answering questions: limits by cost, a second attempt if events were missing, and streamed answers."""
