"""Answers questions that follow flows: walks, impact, paths and traces."""
