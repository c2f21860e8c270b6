"""Answers about column traces."""
