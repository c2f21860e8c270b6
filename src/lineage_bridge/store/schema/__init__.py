"""Tables, connections and migrations."""
