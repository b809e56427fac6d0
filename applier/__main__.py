"""`python -m applier`: the command line, where its script is not on the PATH."""

from applier.cli import console

if __name__ == "__main__":
    console()
