"""The version of the distribution, here alone; a module of its own so that asking for it imports nothing else."""

VERSION = "0.1.0"
