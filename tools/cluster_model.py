# SPDX-License-Identifier: MIT
"""A model of what a query takes on n ranks, of rates that were measured.

Ranks work at once; the longest way is the slowest rank's work, and then what rank 0
does alone. A message takes alpha + bytes / beta; a rank sends, and takes, one at a time.
Times are nanoseconds. A query's time is a dictionary of COSTS:

  order    rank 0 tells the others of the query, hears that they are ready, and in the
           end how it went
  compute  a rank's steps over its share
  exchange a rank hashes, packs and takes rows that change ranks
  network  messages on their way: alpha + bytes / beta each
  merge    rank 0 brings together what the others give

Rates (tools/cluster-model measures them), per row where nothing else is said:
scan, pack (of a row that rank 0 takes), take; build, probe; group (a row), merge_group
(a group that rank 0 gets); move (a row of an exchange, hashed, packed and taken); order
(a run), order_others (once, where there are other ranks); alpha (a message), byte.
"""
import math

COSTS = ('order', 'compute', 'exchange', 'network', 'merge')
BLOCK = 65536       # rows that a rank cuts, or gives to rank 0, at once
ROW_BYTES = 16      # of two numbers, as the measured queries send
GROUP_BYTES = 48    # of a group's record
GROUP_BLOCK = 1024  # groups in a message
ORDER_BYTES = 4096  # of each of the three messages that rank 0 and another have of a run


def messages(rates, count, each_bytes):
    return count * (rates['alpha'] + each_bytes * rates['byte'])


def order(rates, ranks):
    """The others plan at once; rank 0 has their messages one after the other."""
    return (rates['order'] + (ranks > 1) * rates['order_others']
            + messages(rates, 3 * (ranks - 1), ORDER_BYTES))


def gathered(rates, ranks, rows):
    """(pack, network, take) of rows that rank 0 gets: it has its own already."""
    each = rows / ranks
    blocks = math.ceil(each / BLOCK) if each else 0
    network = (ranks - 1) * (blocks * rates['alpha'] + each * ROW_BYTES * rates['byte'])
    return ((ranks > 1) * each * rates['pack'], network,
            (ranks - 1) * each * rates['take'])


def exchanged(rates, ranks, rows):
    """(work, network) of rows each of which goes to the rank of its key."""
    if ranks == 1:
        return 0, 0
    each, away = rows / ranks, (ranks - 1) / ranks
    blocks = math.ceil(each / BLOCK)
    network = messages(rates, blocks * (ranks - 1), each * away * ROW_BYTES
                       / (blocks * (ranks - 1)))
    ends = messages(rates, ranks - 1, 0)
    return each * rates['move'], network + ends


def few_results(rates, ranks):
    """A group or a row of each rank, as of count(*)."""
    return (messages(rates, ranks - 1, GROUP_BYTES),
            (ranks > 1) * ranks * rates['merge_group'])


# ----------------------------------------------------------------- queries --

def scan(rates, ranks, rows, kept):
    """Rows of which a share is kept and comes to rank 0."""
    pack, network, take = gathered(rates, ranks, rows * kept)
    return {'order': order(rates, ranks), 'compute': rows * rates['scan'] / ranks,
            'exchange': pack, 'network': network, 'merge': take}


def broadcast_join(rates, ranks, build, probe):
    """Each rank reads and builds all of one side, and probes with its share."""
    network, merge = few_results(rates, ranks)
    return {'order': order(rates, ranks),
            'compute': build * rates['build'] + probe * rates['probe'] / ranks,
            'exchange': 0, 'network': network, 'merge': merge}


def exchanged_join(rates, ranks, build, probe):
    """Rows of both sides meet on the rank of their key."""
    work, network = exchanged(rates, ranks, build + probe)
    result, merge = few_results(rates, ranks)
    return {'order': order(rates, ranks),
            'compute': (build * rates['build'] + probe * rates['probe']) / ranks,
            'exchange': work, 'network': network + result, 'merge': merge}


def merged_groups(rates, ranks, rows, groups):
    """Each rank groups its rows, and rank 0 merges the groups of all."""
    each = groups * -math.expm1(-rows / ranks / groups)
    sent = messages(rates, (ranks - 1) * math.ceil(each / GROUP_BLOCK), 0) \
        + (ranks - 1) * each * GROUP_BYTES * rates['byte']
    return {'order': order(rates, ranks), 'compute': rows * rates['group'] / ranks,
            'exchange': 0, 'network': sent,
            'merge': (ranks > 1) * ranks * each * rates['merge_group']}


def exchanged_groups(rates, ranks, rows, groups):
    """Rows meet on the rank of their group, which gives its first few."""
    work, network = exchanged(rates, ranks, rows)
    result, merge = few_results(rates, ranks)
    del groups  # whatever they are, each rank has its own
    return {'order': order(rates, ranks), 'compute': rows * rates['group'] / ranks,
            'exchange': work, 'network': network + result, 'merge': merge}


QUERIES = {'scan': scan, 'broadcast join': broadcast_join, 'exchanged join': exchanged_join,
           'merged groups': merged_groups, 'exchanged groups': exchanged_groups}


# ----------------------------------------------------------------- answers --

def total(costs):
    return sum(costs.values())


def limit(costs):
    """What takes most, but for the work that more ranks share."""
    return max((cost for cost in COSTS if cost != 'compute'), key=costs.get)


def efficiency(query, rates, ranks, *sizes):
    """Of the ideal speed-up."""
    return total(query(rates, 1, *sizes)) / total(query(rates, ranks, *sizes)) / ranks


def best(query, rates, most, *sizes):
    """How many ranks up to `most` are fastest, of powers of two."""
    return min(powers(most), key=lambda ranks: total(query(rates, ranks, *sizes)))


def half_way(query, rates, most, *sizes):
    """The most ranks, of powers of two, that reach half of the ideal."""
    return max(ranks for ranks in powers(most)
               if ranks == 1 or efficiency(query, rates, ranks, *sizes) >= 0.5)


def powers(most):
    return [2 ** power for power in range(int(math.log2(most)) + 1)]


def with_tree(rates, ranks, costs):
    """The same where ranks told and gathered along a tree: what rank 0 does once for each
    of the others is done once for each level, and groups merge on their way."""
    if ranks == 1:
        return dict(costs)
    levels = math.ceil(math.log2(ranks)) / (ranks - 1)
    told = rates['order'] + (costs['order'] - rates['order']) * levels
    return costs | {'order': told, 'merge': costs['merge'] * levels}
