"""Limits what principals see who are limited to namespaces: one rule for each question of `ports.GraphReader`. docs/glossary.md explains
"own".
"""
