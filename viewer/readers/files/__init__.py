"""Any file from outside: bounded, isolated, refused in a sentence."""
