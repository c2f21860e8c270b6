"""Limits what a limited principal sees: one rule for each question of `ports.GraphReader`. docs/glossary.md explains own nodes, neighbours
and places.
"""
