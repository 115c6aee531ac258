"""Vision-language models that run on this machine through transformers.

torch and transformers are imported inside functions, when a model is first needed.
"""
