"""Templates, inside the guarded child: the only place that imports jinja2."""
