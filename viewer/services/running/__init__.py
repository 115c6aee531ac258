"""Runs: planned, estimated, asked, paid for, stopped and continued."""
