"""What several modules of this ``cupy`` use."""
