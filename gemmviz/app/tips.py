"""Tips that show what stands in a file as it stands."""

from __future__ import annotations

from html import escape


def plain_tip(text: str) -> str:
    """A tip that shows ``text`` as it is.

    Qt takes a tip for mark-up where it looks like it, and would load the pictures that this names:
    what a stranger has written into a file must not do that.
    """
    if not set("<&") & set(text):
        return text
    return f'<p style="white-space:pre-wrap">{escape(text)}</p>'
