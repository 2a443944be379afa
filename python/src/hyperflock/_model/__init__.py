"""What a study, a trial and a result are. Plain data; nothing here asks a server."""
