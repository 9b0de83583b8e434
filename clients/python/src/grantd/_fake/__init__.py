"""A grantd in memory. Its public face is grantd.testing."""
