"""Where else to look: the consoles of systems, and the sources that would measure what is not measured."""
