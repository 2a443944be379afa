"""The connection to a server, studies there, and what is sent to start one."""
