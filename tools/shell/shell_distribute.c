/* SPDX-License-Identifier: MIT */
/*
 * .distribute: makes part files of the database, which ranks open.
 */
#include <limits.h>
#include <stdlib.h>

#include <vdbq_cluster.h>

#include <vdbq_cluster.h>

#include "shell_command.h"
#include "shell.h"

bool shell_distribute(struct shell *shell, const struct shell_call *call)
{
    char *end;
    const unsigned long parts = strtoul(call->argument[1], &end, 10);
    if (*end != '\0' || parts == 0 || parts > UINT_MAX)
        return shell_usage(shell, call);
    if (vdbq_cluster_distribute(shell->db, call->argument[0], (unsigned)parts,
                                (const char *const *)&call->argument[2],
                                call->count - 2)
        == VDBQ_OK)
        return true;
    return shell_fail_db(shell, call->place);
}
