"""Templates in the guarded child: the only package that imports jinja2."""
