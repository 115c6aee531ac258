"""Every prediction of a store, grouped, filtered and led back to its cases."""
