"""Readers' sessions as stored: their basis, the state of each case, what counts."""
