"""Removes the content of records that retention let go from closed segments. Offsets stay: empty records stand in their place."""
