"""Stand-alone numbered migrations, each tested from every released version."""
