"""Reads Python sources: the files behind an objective, definitions, what the runtime has."""
