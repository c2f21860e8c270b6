"""The naming rules. They recognise spellings of the same dataset by OpenLineage's naming specification, without guessing, and are versioned
data. Pure.
"""
