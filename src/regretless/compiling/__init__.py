"""How kernels are compiled (`decorators`) and cached on disk (`cache`)."""
