"""What is wrong with a fleet: one small function a code, and all of them run."""
