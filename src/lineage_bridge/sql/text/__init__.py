"""Text to tokens to statements, and streaming SQL lowered to plain SQL."""
