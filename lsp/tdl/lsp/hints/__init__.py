"""Inlay hints by kind of item: `ops`, `calls` and `schedules`."""
