"""Classifying networks that show where they looked, by class activation maps.

The task-specific baseline of Gosai 2025: a network trained on the findings, with
Grad-CAM (Selvaraju 2017) for the location. torch and captum are imported inside
functions.
"""
