"""Read, Measure, Review and Models."""
