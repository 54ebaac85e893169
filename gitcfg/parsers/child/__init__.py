"""The guarded child's side: a module for HTCondor's formats, and one for data formats."""
