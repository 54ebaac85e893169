"""The harness that measures gitcfg beside other tools."""
