"""bough inside other libraries: scikit-learn, spaCy, Ray."""
