"""What all sources that read a data catalog share: how it is listed, and how its assets become events."""
