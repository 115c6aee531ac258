"""One file for each way of asking a model; siblings share retry and limits only."""
