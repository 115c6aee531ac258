"""Which coordinate convention a model answers in, measured with marker images."""
