"""The state of the window: what is selected, running and measured."""
