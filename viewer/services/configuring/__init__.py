"""Configuration: models, study files and forms."""
