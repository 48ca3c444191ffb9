"""What the layers cost, against the arithmetic alone and against plain recursion."""
