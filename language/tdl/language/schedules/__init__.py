"""Schedules: which lines there are, which names they may use, and whether each is formed as one."""
