"""What may be sent from this machine: decisions, the gate, and scans for names."""
