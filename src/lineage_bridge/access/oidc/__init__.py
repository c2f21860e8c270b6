"""Verifies tokens of OpenID Connect issuers: their signatures and their claims."""
