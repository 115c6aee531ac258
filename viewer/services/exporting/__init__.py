"""Exports of runs: answers, tables, tasks, verifiable bundles."""
