"""Whole slides: DICOM and scanners' own formats."""
