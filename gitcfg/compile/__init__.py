"""From a Model to a Fleet: layers, operations, partials, trails."""
