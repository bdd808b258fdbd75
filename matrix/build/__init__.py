"""From a provider's sources to one static worker executable per target."""
