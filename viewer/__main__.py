"""The program's entry: ``overread``, ``python -m viewer`` and the frozen executable."""

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    from viewer.cli import run_command_line

    sys.exit(run_command_line(sys.argv[1:]))


if __name__ == "__main__":
    main()
