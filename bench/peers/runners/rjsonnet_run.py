"""Prints what a jsonnet file evaluates to."""

import sys

from rjsonnet import evaluate_file

sys.stdout.write(evaluate_file(sys.argv[1]))
