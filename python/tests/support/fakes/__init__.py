"""Parts of the servers that tests play."""
