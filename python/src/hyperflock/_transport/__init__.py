"""What goes over the wire: HTTP, the two WebSockets, the protocol's messages and their checks."""
