"""Shows a study's trials: files, tables, pictures and progress bars."""
