/* SPDX-License-Identifier: MIT */
/*
 * Shares by measured speed: see shares.h.
 */
#include "cluster/shares.h"

#include <assert.h>

#include "base/memory.h"

enum {
    ROWS_MIN = 1 << 14, /* of a rank, so that its speed means something ...   */
    NS_MIN = 5000000,   /* ... of the slowest rank                            */
    LEAST_PART = 16     /* of an equal share: what a rank has in any case     */
};
#define DIFFERENCE 1.25 /* between what ranks have and should have */

bool shares_init(struct shares *shares, unsigned ranks)
{
    assert(ranks > 0);
    shares->ranks = ranks;
    shares->first = memory_zeroed((size_t)ranks + 1, sizeof *shares->first);
    for (unsigned r = 0; shares->first != NULL && r <= ranks; r++)
        shares->first[r] = (uint32_t)((uint64_t)RANK_SHARE_ALL * r / ranks);
    return shares->first != NULL;
}

void shares_finish(struct shares *shares)
{
    memory_release(shares->first);
    *shares = (struct shares){ 0 };
}

/* Whether a run tells how fast all ranks are. */
static bool tells(const struct shares *shares, const struct share_run *runs)
{
    uint64_t slowest = 0;
    for (unsigned r = 0; r < shares->ranks; r++) {
        if (runs[r].rows < ROWS_MIN || runs[r].ns == 0)
            return false;
        slowest = runs[r].ns > slowest ? runs[r].ns : slowest;
    }
    return slowest >= NS_MIN;
}

static double speed_of(const struct share_run *run)
{
    return (double)run->rows / (double)run->ns;
}

static double share_of(const struct shares *shares, unsigned rank)
{
    return (double)(shares->first[rank + 1] - shares->first[rank])
           / RANK_SHARE_ALL;
}

/* The share that fits a rank's speed, `all` being that of all. */
static double fitting(const struct shares *shares, const struct share_run *run,
                      double all)
{
    double least = 1.0 / LEAST_PART / shares->ranks;
    double share = speed_of(run) / all;
    return share > least ? share : least;
}

void shares_learn(struct shares *shares, const struct share_run *runs)
{
    double speeds = 0, sum = 0, at = 0;
    bool differ = false;
    if (!tells(shares, runs))
        return;
    for (unsigned r = 0; r < shares->ranks; r++)
        speeds += speed_of(&runs[r]);
    for (unsigned r = 0; r < shares->ranks; r++) {
        double has = share_of(shares, r);
        double wants = fitting(shares, &runs[r], speeds);
        differ |= wants > has * DIFFERENCE || has > wants * DIFFERENCE;
        sum += wants;
    }
    for (unsigned r = 0; differ && r < shares->ranks; r++) {
        shares->first[r] = (uint32_t)(at / sum * RANK_SHARE_ALL);
        at += fitting(shares, &runs[r], speeds);
    }
}
