"""Reading any file from outside: limited, isolated, refused with a message."""
