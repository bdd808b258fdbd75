"""What there is to test, as frozen data read from tables and kernel headers; imports nothing of ours but errors."""
