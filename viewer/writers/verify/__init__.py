"""The verifier of bundles, which uses only the standard library.

It is an independent second implementation, so that it does not repeat our errors.
"""
