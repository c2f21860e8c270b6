"""The interfaces between the parts of the program. `wiring` connects them to implementations."""
