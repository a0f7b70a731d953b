"""The process beside the server that makes code, runs it and measures it. It may be killed at any moment."""
