"""What nodes run and when they last checked in, beside their definitions in git."""
