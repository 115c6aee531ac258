"""Models behind OpenAI's two interfaces, Chat Completions and Responses."""
