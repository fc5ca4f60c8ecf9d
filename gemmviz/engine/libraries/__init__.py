"""Libraries that multiply in place of a kernel, one file each, behind the protocol of a runner."""
