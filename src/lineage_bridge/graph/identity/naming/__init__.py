"""The naming rules, which tell from OpenLineage's naming specification which spellings denote the same dataset. They are versioned data.
Pure; no guesses.
"""
