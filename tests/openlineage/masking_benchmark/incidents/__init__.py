"""Secrets that leak from the pipelines of one company, texts without any, and datasets to keep apart, by another hand than the rules."""
