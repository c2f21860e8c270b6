"""A set of texts for the masking of secrets, written from vendors' public formats by somebody who had not read the rules.

The files hold shapes and texts only: the values are made from a fixed seed, so that no file here looks like a leak.
"""
