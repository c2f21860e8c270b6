"""The kinds of targets. There is one module or package for each, and these never import each other."""
