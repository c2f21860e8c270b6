"""Consumer groups and transactional producers."""
