"""The APIs that the stand-in serves, each in a module of its own."""
