"""The kind of sources `msk-connect`, which observes connectors in Amazon's MSK Connect."""
