"""What a drag of the mouse does; one file per tool."""
