"""What the frozen program runs first: Ctrl+C ends its start without a word.

PyInstaller's own hooks import libraries before the program's first line is reached,
where a KeyboardInterrupt would be told as a failed start.
"""

import signal

if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
