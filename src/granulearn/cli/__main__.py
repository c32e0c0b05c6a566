"""Run the command line as ``python -m granulearn.cli``."""

from granulearn.cli.main import main

if __name__ == "__main__":
    main()
