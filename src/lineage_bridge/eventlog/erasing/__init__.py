"""Erases records of the log and of the archive in place: offsets stay, and readers find an ERASED record where the erased one was."""
