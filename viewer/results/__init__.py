"""A run's records, and tables as specifications that are evaluated over them.

Every number that a page, a table, an export or a bundle shows comes from here.
"""
