# SPDX-License-Identifier: MIT
"""Every function and operator that the sources name, so that none is left out.

A form is an expression with holes: abs({0}), ({0} + {1}).
"""
import itertools
import re
from collections import namedtuple

ARITY_MAX = 3  # of a function that takes more, the calls with fewer
Form = namedtuple('Form', 'name arity text aggregate', defaults=(False,))

# Tables of names, in C: the files, and a row with its name and the least and
# greatest number of arguments.
FUNCTIONS = 'src/program/functions/function_table.h'
FUNCTION = r'^    (?:BOUND|OPCODE|HOST)\((\w+), (\d+), (\w+), '
PLANNERS = '#define INNER_FUNCTIONS'  # and below: they have no names in SQL
# first() has no name in SQL; grouping() is of a query's keys.
AGGREGATES = ('src/program/steps/aggregates.h',
              r'^    _\([A-Z]+, (?!(?:first|grouping)\b)(\w+), [A-Z]+, [A-Z]+, ')
QUANTILES = ('src/program/steps/aggregates.h', r'^    _\([A-Z_]+, (quantile_\w+), ALL, ')
MADE = ('src/program/steps/aggregates.h', r'^    _\([A-Z_]+, (?!grouping\b)(\w+), OTHERS, ')
ALIASES = ('src/program/steps/aggregates.h', r'^    _\((?!grouping)(\w+), [A-Z_]+\) ')
OF_TWO = ('arg_min', 'arg_max', 'min_by', 'max_by', 'covar_pop', 'covar_samp', 'corr',
          'regr_slope', 'regr_intercept', 'regr_r2', 'regr_count', 'regr_avgx', 'regr_avgy',
          'regr_sxx', 'regr_syy', 'regr_sxy')
WINDOWS = ('src/program/steps/aggregates.h', r'^    _\([A-Z_]+, (\w+), (\d+), (\d+), ')
UNITS = ('src/plan/call/bind_date.c', r'\[AST_[A-Z]+\] = "(\w+)"')
# These take the name of a part, a constant, first.
OF_PARTS = ('extract', 'date_part', 'datepart', 'date_trunc', 'datetrunc')
TYPES = ('parser/ast_create.c', r'\{ "([\w ]+)", VDBQ_')
CHOICES = {'like': ('LIKE', 'ILIKE'), 'match': ('GLOB', 'REGEXP', 'SIMILAR TO'),
           'collation': ('BINARY', 'NOCASE', 'RTRIM')}
OPERATORS = ('parser/sql.y', r'^  \| ((?:"[-+~]" |NOT )?term\b[^{\n]*)')


def all_forms(root):
    """The forms of all functions, aggregates, windows, casts and operators."""
    forms = [*calls(root), *windows(root), *casts(root), *operators(root)]
    return sorted(set(forms))


def rows(root, table):
    path, pattern = table
    sources = [p.read_text() for p in sorted(root.glob(path))]
    found = [row for source in sources for row in re.findall(pattern, source, re.M)]
    if not found:
        raise SystemExit(f'{path}: no names where they are looked for: {pattern}')
    return found


def functions(root):
    """Name, least and most of each function; a row that is not read is a fault."""
    named, planners, _ = (root / FUNCTIONS).read_text().partition(PLANNERS)
    found = re.findall(FUNCTION, named, re.M)
    starts = named.count('    BOUND(') + named.count('    OPCODE(') + named.count('    HOST(')
    if not planners or len(found) != starts:
        raise SystemExit(f'{FUNCTIONS}: {len(found)} of {starts} rows are read')
    return found


def call(name, arity):
    holes = ', '.join(f'{{{i}}}' for i in range(arity))
    return Form(name, arity, f'{name}({holes})')


def arities(least, most):
    most = int(most) if most.isdigit() else ARITY_MAX  # MANY
    return range(int(least), min(most, ARITY_MAX) + 1)


def calls(root):
    for name, least, most in functions(root):
        for arity in arities(least, most):
            yield call(name, arity)
    for name, unit in itertools.product(OF_PARTS, rows(root, UNITS)):
        yield Form(name, 1, f"{name}('{unit}', {{0}})")
    for name, unit in itertools.product(('date_diff', 'datediff'), rows(root, UNITS)):
        yield Form(name, 2, f"{name}('{unit}', {{0}}, {{1}})")
    for name in rows(root, QUANTILES):
        yield Form(name, 1, f'{name}({{0}}, 0.3)', True)
    for name in rows(root, MADE) + rows(root, ALIASES):
        arity = 2 if name in OF_TWO else 1
        text = 'quantile({0}, 0.3)' if name == 'quantile' else call(name, arity).text
        yield Form(name, arity, text, True)
    for name in rows(root, AGGREGATES):
        yield Form(name, 1, f'{name}({{0}})', True)
        yield Form(name, 1, f'{name}(distinct {{0}})', True)


def windows(root):
    for name, least, most in rows(root, WINDOWS):
        for arity in arities(least, most):
            yield Form(name, arity, call(name, arity).text + ' over ()', True)


def casts(root):
    for name in rows(root, TYPES):
        for size in ('', '(18,0)', '(18,18)', '(4,2)') if name == 'decimal' else ('',):
            yield Form(f'cast {name}{size}', 1, f'CAST({{0}} AS {name}{size})')
            yield Form('try_cast', 1, f'TRY_CAST({{0}} AS {name}{size})')


def operators(root):
    for rule in rows(root, OPERATORS):
        words = rule.split('%prec')[0].split()
        if not any(word in ('type', '"::"', 'quantifier') for word in words):
            yield from operator(words)


def operator(words):
    """The forms of one rule of the grammar."""
    for choice in next((CHOICES[word] for word in words if word in CHOICES), ('',)):
        texts = {'IS_NOT': 'NOT', **dict.fromkeys(CHOICES, choice)}
        parts = []
        holes = iter(range(ARITY_MAX + 1))
        for word in words:
            if word == 'term':
                parts.append(f'{{{next(holes)}}}')
            elif word == 'in_items':
                parts.append(f'({{{next(holes)}}}, {{{next(holes)}}})')
            else:
                parts.append(texts.get(word, word.strip('"')))
        arity = next(holes)
        name = ' '.join(p for p in parts if '{' not in p)
        name = 'bits ~' if words[0] == '"~"' else name  # of texts it matches
        yield Form(name, arity, '(' + ' '.join(parts) + ')')
