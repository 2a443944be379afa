"""``python -m hyperflock`` is the command ``hyperflock``."""

from hyperflock._cli import main

if __name__ == "__main__":
    main()
