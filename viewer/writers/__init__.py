"""From the domain to the outside world."""
