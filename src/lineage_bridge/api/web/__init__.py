"""What the server does for browsers: it reads what proxies state about requests, and redirects to logins."""
