"""Runs given away: answers, tables, tasks, verifiable bundles."""
