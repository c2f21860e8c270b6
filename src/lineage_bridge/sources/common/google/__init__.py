"""Code that the source and the target of kind `google` share: fully qualified names, and logins."""
