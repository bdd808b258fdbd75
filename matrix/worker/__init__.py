"""The host's side of a worker: frames, and one guest process."""
