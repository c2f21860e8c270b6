"""How questions are answered: in lanes by their cost, a second time when events were missing, and as streams."""
