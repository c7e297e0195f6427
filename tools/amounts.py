# SPDX-License-Identifier: MIT
"""Averages of what was measured, and numbers as a person reads them."""
import math


def mean(values):
    return sum(values) / len(values)


def geometric(values):
    return math.exp(mean([math.log(max(value, 1e-3)) for value in values]))


def known(values):
    """Those that were measured."""
    return [value for value in values if value is not None]


def over_known(average, values):
    """An average of those that were measured; None: there are none."""
    return average(known(values)) if known(values) else None


def times(theirs, ours):
    """How many times as long theirs is; '': not known."""
    return short(theirs / ours) + 'x' if theirs and ours else ''


def short(value):
    """Three digits, at least the ones."""
    if value is None:
        return ''
    return f'{value:.0f}' if value >= 99.5 else f'{value:.1f}' if value >= 9.95 else f'{value:.2f}'


def amount(rows):
    """Rows as a person says them."""
    unit, name = (1e6, ' M') if rows >= 1e6 else (1e3, ' k') if rows >= 1e3 else (1, '')
    return f'{rows / unit:g}{name}'
