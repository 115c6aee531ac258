"""What may leave this machine: decisions, the gate, and the looks for names."""
