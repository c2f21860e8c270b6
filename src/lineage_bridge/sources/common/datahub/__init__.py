"""Code that the source and the target of kind `datahub` share."""
