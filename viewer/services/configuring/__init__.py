"""What people set up: models, study files, forms."""
