"""A server's studies and files in the form of Optuna's storage and artifact stores."""
