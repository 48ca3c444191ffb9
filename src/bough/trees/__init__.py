"""Trees as flat arrays, and forests: many trees as one schedule."""
