"""Packs an objective's code and everything that it uses into a bundle for devices."""
