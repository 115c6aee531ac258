"""Predictions made elsewhere: tables, COCO, masks, DICOM SEG, saliency maps."""
