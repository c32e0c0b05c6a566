"""``python -m granulearn``: the command line."""

from granulearn.cli.main import main

if __name__ == "__main__":
    main()
