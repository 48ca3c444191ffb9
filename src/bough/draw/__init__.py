"""Results as pictures: SVG, and lines for a terminal."""
