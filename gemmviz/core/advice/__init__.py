"""What to try next with a kernel on a device, and why: rules over what is known of both."""
