"""Access tokens of OpenID Connect issuers: their keys and their claims."""
