"""Adapters, one module or package each; they share only retry and limits."""
