"""capmatrix: a conformance test matrix for hand-optimised crypto kernels."""

__version__ = "0.1.0"
