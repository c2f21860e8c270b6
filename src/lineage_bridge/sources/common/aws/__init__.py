"""Code that all clients of Amazon's APIs share: credentials, and the conversion of errors."""
