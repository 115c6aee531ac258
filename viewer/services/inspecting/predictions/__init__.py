"""Every prediction in a store: grouped, filtered and traced to its cases."""
