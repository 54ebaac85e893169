"""The web pages of the server: typed contents in, HTML out."""
