"""The catalogue of connector classes: for each class, how its configuration names datasets and topics."""
