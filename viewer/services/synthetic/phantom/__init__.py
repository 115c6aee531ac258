"""The synthetic thorax: PA and lateral arrays, lesion and anatomy masks."""
