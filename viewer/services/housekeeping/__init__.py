"""Deletion of what the store keeps, and backup, restore and compaction of the store."""
