"""The rules by which secrets are recognised: names of settings, forms of tokens, commands, source code, and sentences."""
