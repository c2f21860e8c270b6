"""Naming rules: which spellings denote the same dataset by OpenLineage's naming specification, as versioned data. Pure; no guesses."""
