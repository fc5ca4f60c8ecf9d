"""The frame of every HTML page that is written: one file that needs nothing else, light or dark."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

# Nothing from elsewhere is loaded and no script runs, whatever a text in the page may hold.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root {
  color-scheme: light dark;
  --page: #f3f4f7; --card: #ffffff; --line: #d9dde4; --text: #1d2330; --muted: #5f6878;
  --code: #f6f7f9; --good: #107a54; --bad: #c53a36; --open: #5f6878; --warn: #8f5c0c;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #16181d; --card: #1d2027; --line: #2c313b; --text: #e4e7ec; --muted: #98a1b0;
    --code: #181a20; --good: #56c596; --bad: #ee6d68; --open: #98a1b0; --warn: #e0a33e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 2rem 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1rem; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .8rem 1rem; margin: .6rem 0; break-inside: avoid;
}
p { margin: .35rem 0 0; overflow-wrap: anywhere; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.warn { color: var(--warn); }
@media print {
  body { padding: 0; background: none; font-size: 10pt; }
  main { max-width: none; }
}
"""


def page(title: str, body: str, style: str = "") -> str:
    """A whole document; its colours follow the reader's system, and paper is light.

    Args:
        title: Of the window, as plain text.
        body: The HTML inside ``main``; all text in it must be escaped.
        style: Rules that this page has besides.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def facts(entries: Iterable[tuple[str, str]]) -> str:
    """Names and what is known of each, as a list of definitions."""
    rows = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n" for name, text in entries)
    return f"<dl>\n{''.join(rows)}</dl>\n"
