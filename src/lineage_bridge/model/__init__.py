"""The values that answers are made of, as questions to the store return them and the API and the command line show them."""
