"""Schedules: a program's loop nest, and the proved rewrites that schedule lines are."""
