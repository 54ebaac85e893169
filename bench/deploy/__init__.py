"""`gitcfg deploy` beside other ways to bring a file to many hosts by SSH and to run a command there."""
