"""Import data sets, predictions and saliency maps into the store."""
