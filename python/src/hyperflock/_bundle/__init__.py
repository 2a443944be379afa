"""Takes an objective's code and what it uses, and writes them as a bundle for a device."""
