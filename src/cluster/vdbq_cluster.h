/* SPDX-License-Identifier: MIT */
/*
 * Several processes, ranks, that run queries of one database file together:
 * docs/cluster.md.
 *
 * Rank 0 opens the database as ever and calls vdbq_cluster_lead(); from then on
 * its queries are shared with the others, each of which is in
 * vdbq_cluster_follow() until rank 0 calls vdbq_cluster_dismiss().
 *
 * How messages travel is the link's: vdbq_mpi_open() (libvdbq-mpi) makes one of
 * MPI.
 */
#ifndef VDBQ_CLUSTER_H
#define VDBQ_CLUSTER_H

#include <vdbq.h>

/* A way to the other ranks. Calls are made by one thread at a time; those that
 * return bool give false where the way is broken. */
struct vdbq_link {
    void *context; /* of the calls */
    unsigned rank; /* of this process, below `ranks`         */
    unsigned ranks;
    unsigned local_rank; /* among those of this machine ...        */
    unsigned local_ranks;
    unsigned cores;     /* of this machine that this process may use      */
    const char *host;   /* the machine's name                             */
    const char *notice; /* what is to be told of how it was started, or "" */
    /* Begins to send a message of a kind (0 to 7) about a run (numbers below
     * 2^20); takes over `bytes`, which vdbq_free() frees. Messages from one rank
     * to another, whichever two they are, arrive in their order. */
    bool (*send)(void *context, unsigned to, unsigned kind, unsigned run,
                 void *bytes, size_t size);
    /* Bytes that are still on their way from here. */
    size_t (*pending)(void *context);
    /* Whether a message of a rank has come, and what it is. Never waits. */
    bool (*arrived)(void *context, unsigned from, unsigned *kind, unsigned *run,
                    size_t *size);
    /* Copies the message that arrived() has told of. */
    bool (*receive)(void *context, unsigned from, void *bytes, size_t size);
    /* Waits until a message of a rank has come, or for so many milliseconds; it
     * may return before. NULL: there is no way but to ask again. */
    void (*wait)(void *context, unsigned from, unsigned milliseconds);
    /* Ends all ranks: what a rank has sent is no message of ours. Prints the
     * reason, and does not return. NULL: the statement fails, and that is all. */
    void (*give_up)(void *context, unsigned rank, const char *reason);
};

/* On rank 0: from here on, the queries of the connection are run by all ranks
 * where they can be divided. Collective: the others are in
 * vdbq_cluster_follow(). The link outlives the connection. Fails with MISUSE
 * (rank 0 alone leads; a database in memory is nobody else's to see), and where
 * another rank could not open the database or is another version. */
VDBQ_API enum vdbq_status vdbq_cluster_lead(vdbq *db,
                                            const struct vdbq_link *link);
/* On all other ranks: opens the database once rank 0 leads, and works for it until
 * it dismisses them. `cores`: of each rank; 0: the link's, divided by the ranks
 * of the machine. Returns what ended it; rank 0 is told of all failures. */
VDBQ_API enum vdbq_status vdbq_cluster_follow(const struct vdbq_link *link,
                                              const char *path, unsigned flags,
                                              unsigned cores);
/* How a table lies in part files, where not by runs of its rows. */
struct vdbq_part_table {
    const char *name;
    const char *const *keys; /* columns: rows go to the part that the hash of
                                these names, so that equal keys of several tables
                                are in one part                           */
    unsigned key_count;      /* 0: the whole table is in each part        */
};

/* Makes a folder of part files of the database: each table's rows are shared out
 * among so many parts, by runs, but for `table_count` tables. As many ranks open the
 * folder as a database, each with a share of scans that is its part; what is written to
 * it lies beside the parts. Rows of all tables keep their order; those of a table by
 * hash are in the parts once more, each part's with their numbers. The database may be
 * such a folder itself. The new one must not be there yet, and on failure nothing of it
 * stays. Fails with MISUSE in a transaction, UNKNOWN (a table, a column), EXISTS (a
 * table is named twice), TYPE (a column that has no hash), LIMIT, BUSY, READ_ONLY, IO,
 * CANCELLED, NO_MEMORY. */
VDBQ_API enum vdbq_status
vdbq_cluster_distribute(vdbq *db, const char *folder, unsigned parts,
                        const struct vdbq_part_table *tables,
                        unsigned table_count);
/* How a table of the last vdbq_tables() lies in part files, where not by runs of its
 * rows: "by hash (k) in 3 parts" or "whole in each of 3 parts"; of a table that lay by
 * hash, "by hash in 3 parts, but", and why it does no more; else "". Lives until the
 * next call that tells of tables. */
VDBQ_API const char *vdbq_cluster_parts(vdbq *db, unsigned table);

/* On rank 0, in the end and in any case: the others return. */
VDBQ_API void vdbq_cluster_dismiss(const struct vdbq_link *link);

#endif
