"""Splitting text into tokens and statements, and lowering streaming SQL to plain SQL."""
