"""Clients of a server, studies at a server, and the submission of new studies."""
