"""Grid localization on chest radiographs (Gosai et al. 2025)."""
