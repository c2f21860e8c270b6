"""Compressed segments: segments that are no longer written are stored as zstd frames, with parity from which a damaged frame can be
restored.
"""
