"""Tables of the graph store, their migrations, and connections to them."""
