"""The seams: what each part of the program asks of the others. `wiring` connects them."""
