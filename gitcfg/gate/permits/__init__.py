"""Rules for who may change what: the things that a change touches, and the rules in effect before it."""
