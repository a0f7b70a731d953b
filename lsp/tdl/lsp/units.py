"""Amounts for people: `7.45 KiB`, `2.15 G operations`."""

from __future__ import annotations


def bytes_text(count: int) -> str:
    """`1 byte`, `12 bytes`, `7.45 KiB`."""
    number, unit = _scaled(count, 1024, ("", "Ki", "Mi", "Gi", "Ti", "Pi"))
    return f"{number} {unit}B" if unit else _counted(number, "byte")


def operations_text(count: int) -> str:
    """`12 operations`, `2.15 G operations`."""
    number, unit = _scaled(count, 1000, ("", "k", "M", "G", "T", "P"))
    return f"{number} {unit} operations" if unit else _counted(number, "operation")


def _scaled(count: int, base: int, units: tuple[str, ...]) -> tuple[str, str]:
    power = 0
    while count >= base ** (power + 1) and power + 1 < len(units):
        power += 1
    value = count / base**power
    return f"{value:.0f}" if power == 0 or value >= 999.5 else f"{value:.3g}", units[power]


def _counted(number: str, what: str) -> str:
    return f"{number} {what}{'' if number == '1' else 's'}"
