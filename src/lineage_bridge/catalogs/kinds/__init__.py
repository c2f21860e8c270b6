"""The kinds of targets, one module each, which never import each other."""
