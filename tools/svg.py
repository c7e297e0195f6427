# SPDX-License-Identifier: MIT
"""What plots are drawn of."""
import math
from xml.sax.saxutils import escape

COLOURS = ('#1b6ca8', '#c0392b', '#2e8b57', '#8e44ad', '#b7791f', '#555555', '#0f9b9b', '#d6498f')


def scale(value, low, high, start, end):
    """Where a value lies between two pixels, by its logarithm."""
    part = (math.log10(value) - math.log10(low)) / (math.log10(high) - math.log10(low))
    return start + part * (end - start)


def grid_line(x1, y1, x2, y2):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            'stroke="#dddddd"/>')


def text(x, y, words, anchor, colour='#222222'):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">'
            f'{escape(words)}</text>')
