"""GGUF model files asked through llama.cpp, in this process and without a network.

xllamacpp is imported inside functions, when a model is first loaded.
"""
