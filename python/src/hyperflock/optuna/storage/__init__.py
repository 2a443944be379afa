"""A server's studies as an Optuna storage, and its artifacts as an Optuna artifact store."""
