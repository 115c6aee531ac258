"""From the outside world to the domain."""
