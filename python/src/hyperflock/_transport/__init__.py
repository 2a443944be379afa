"""Talks to a server: HTTP, WebSockets, the protocol's messages and their validation."""
