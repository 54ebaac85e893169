"""What nodes run and when they last checked in, beside what git says of them."""
