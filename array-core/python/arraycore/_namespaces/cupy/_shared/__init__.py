"""Functions and classes that several modules of this ``cupy`` use."""
