"""The child process that talks to OpenCL and the host that owns it."""
