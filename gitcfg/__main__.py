"""`python -m gitcfg` is gitcfg."""

from gitcfg.cli.main import main

if __name__ == "__main__":
    main()
