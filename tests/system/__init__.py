"""The whole world at once: git, PostgreSQL, two servers, agents, daemons, HTCondor's parser and a browser."""
