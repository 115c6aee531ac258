"""What may be sent from this machine: decisions, the gate, and text scans."""
