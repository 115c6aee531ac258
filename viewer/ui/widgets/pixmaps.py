"""Rasters as Qt pixmaps."""

from PySide6.QtGui import QImage, QPixmap

from viewer.domain.image import Raster


def pixmap_of(raster: Raster) -> QPixmap:
    """Return a pixmap with the raster's pixels, grey or RGB."""
    size, grey = raster.size, raster.pixels.ndim == 2
    form = QImage.Format.Format_Grayscale8 if grey else QImage.Format.Format_RGB888
    stride = size.columns if grey else 3 * size.columns
    # With its stride: Qt assumes rows padded to 32 bits where it is left out.
    image = QImage(raster.pixels.tobytes(), size.columns, size.rows, stride, form)
    return QPixmap.fromImage(image.copy())
