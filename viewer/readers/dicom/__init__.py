"""DICOM files: size limits, geometry, values, decoding."""
