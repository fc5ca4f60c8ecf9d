"""gemmviz: a desktop profiler for OpenCL matrix multiplication."""

__version__ = "0.1.0"
