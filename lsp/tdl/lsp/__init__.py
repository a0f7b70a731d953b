"""The language server. It arrives after the schedules."""
