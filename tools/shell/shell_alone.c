/* SPDX-License-Identifier: MIT */
/*
 * --cluster and --ranks in a build without MPI: they are refused, and there is one
 * process.
 */
#include "shell_cluster.h"

bool shell_cluster_open(struct shell *shell, const struct options *options)
{
    if (!options->cluster && options->ranks == 0)
        return true;
    return shell_fail(shell, NULL, VDBQ_MISUSE,
                      "meson setup -Dmpi=enabled builds one that has it",
                      "--%s: this vdbq was built without MPI",
                      options->cluster ? "cluster" : "ranks");
}

bool shell_cluster_leads(const struct shell *shell)
{
    (void)shell;
    return true;
}

bool shell_cluster_lead(struct shell *shell, const struct options *options)
{
    (void)shell;
    (void)options;
    return true;
}

void shell_cluster_follow(struct shell *shell, const struct options *options)
{
    (void)shell;
    (void)options;
}

void shell_cluster_close(struct shell *shell)
{
    (void)shell;
}
