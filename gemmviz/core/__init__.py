"""Values and models that know neither Qt nor OpenCL."""
