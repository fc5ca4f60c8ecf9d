"""Starts the window without a command, and a command otherwise."""

from __future__ import annotations

import signal
import sys

_FILES = (".toml", ".gemmviz", ".png", ".svg", ".json")


def main() -> None:
    """The ``gemmviz`` command."""
    arguments = sys.argv[1:]
    # The window takes options of its own and files; any other first word is a command.
    first = arguments[0] if arguments else "--theme"
    if not first.endswith(_FILES) and not first.startswith(("--theme", "--results")):
        # Whoever ends a command kindly is told what was measured so far, as with Ctrl+C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            from gemmviz.cli.parser import run_command

            code = run_command(arguments)
        except KeyboardInterrupt:  # while it still loads
            code = 2
        sys.exit(code)
    from gemmviz.views.display import missing_display

    problem = missing_display()
    if problem is not None:
        print(problem, file=sys.stderr)
        sys.exit(2)
    from gemmviz.views.main import open_window

    sys.exit(open_window(arguments))


if __name__ == "__main__":
    main()
