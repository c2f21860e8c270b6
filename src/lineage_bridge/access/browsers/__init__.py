"""People in a browser: their logins at an issuer, and the sessions that follow."""
