"""Data sets, predictions and maps taken into the store."""
