"""One file for each adapter; siblings share retry and limits only."""
