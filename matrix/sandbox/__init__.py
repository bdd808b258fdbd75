"""Where compilers and guests run: the host itself, or containers."""
