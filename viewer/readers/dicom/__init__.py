"""DICOM files: bounds, geometry, values, decoding."""
