"""One trial on its straight path, from pixels to verdict."""
