"""The reference evaluator: the meaning of a checked program, in NumPy."""

from tdl.language.evaluate.programs import evaluate

__all__ = ["evaluate"]
