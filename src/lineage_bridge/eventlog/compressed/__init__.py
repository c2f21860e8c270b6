"""Compressed segments: a segment that is no longer written is stored in zstd frames, with parity from which a damaged frame is restored."""
