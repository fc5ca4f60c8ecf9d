"""What a kernel's source reads and writes: addresses of every access, derived without a device."""
