"""What everything has in common that calls Amazon's APIs: how it finds credentials, and what its errors mean."""
