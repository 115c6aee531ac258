"""Classifying networks that show where they looked: class activation maps.

The task-specific baseline of Gosai 2025: a network trained on the findings, and
Grad-CAM (Selvaraju 2017) for the place. torch and captum are imported inside functions.
"""
