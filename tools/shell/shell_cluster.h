/* SPDX-License-Identifier: MIT */
/* --cluster: the shell on several processes that mpirun has started, or that it
 * starts itself: --ranks. */
#ifndef VDBQ_TOOLS_SHELL_CLUSTER_H
#define VDBQ_TOOLS_SHELL_CLUSTER_H

#include "shell.h"
#include "shell_options.h"

/* Makes this process one of the ranks. False: that failed, and was told. */
bool shell_cluster_open(struct shell *shell, const struct options *options);
/* Whether it is rank 0, which has input and output; without ranks it is. */
bool shell_cluster_leads(const struct shell *shell);
/* Rank 0: has the others take part in what the connection does. */
bool shell_cluster_lead(struct shell *shell, const struct options *options);
/* Another rank: takes part until rank 0 ends. */
void shell_cluster_follow(struct shell *shell, const struct options *options);
/* In the end, on all ranks. */
void shell_cluster_close(struct shell *shell);

#endif
