/* SPDX-License-Identifier: MIT */
/*
 * What a connection is inside: its database, its options, the devices it has
 * opened, and its last failure. For the files of src/api only.
 */
#ifndef VDBQ_API_SESSION_H
#define VDBQ_API_SESSION_H

#include "api/alone/opener.h"
#include "api/alone/prepared.h"
#include "base/threads/stop.h"
#include "data/pool/pool.h"
#include "base/os/os.h"
#include "data/transaction/transaction.h"
#include "exec/stream/stream.h"
#include "exec/dictionary/dictionary_cache.h"
#include "parser/ast.h"
#include "plan/plan.h"

/* A connection's settings, and the texts that gave them: for vdbq_get(). */
struct options {
    struct settings settings;
    char texts[SETTINGS_MAX][SETTING_BYTES_MAX]; /* by number of the setting */
};

/* What hangs on a connection beside queries and appends: the first member of
 * it. It is closed before they are. */
struct session_object {
    struct session_object *next, **before; /* where the list has it */
    void (*close)(struct session_object *object);
};

/* Other processes, or other devices of this one, that take part in queries:
 * ranks. What src/cluster does in their places. */
struct session_cluster {
    /* Divides a plan for a catalogue among the ranks, or says why not: sets
     * query->division. */
    enum vdbq_status (*divide)(struct vdbq_query *query,
                               const struct catalogue *catalogue);
    /* Has the others begin a run of a query that is divided, on the state that it
     * reads; sets query->params.ranks, or leaves it NULL where this process is
     * to run it alone. It may open a newer state and plan anew. */
    enum vdbq_status (*begin)(struct vdbq_query *query);
    /* Ends what begin() began; its stream is closed. */
    void (*end)(struct vdbq_query *query);
    /* Adds what EXPLAIN says of the ranks. */
    void (*explain)(const struct vdbq_query *query, struct text *lines);
    bool follows; /* this is not rank 0: queries are planned when they run    */
};

/* A catalogue of a database and of the temporary tables beside it. All are held, and
 * NULL where there is none yet. */
struct session_whole {
    struct catalogue *catalogue, *temporary, *whole;
};

struct vdbq {
    struct database *database;       /* NULL: it could not be opened   */
    struct database *temporary;      /* of temporary tables, beside it; NULL:
                                        there have been none           */
    struct session_whole whole;      /* of both, as asked for last     */
    struct session_cluster *cluster; /* of processes; NULL: there is none */
    uint64_t probed_most; /* as of struct plan_limits, of all these devices; 0:
                             that of the connection's own                   */
    unsigned sharers;     /* devices that have a part each of the memory for
                         tablets; 0: they are not several                */
    int process;          /* that opened it                 */
    struct options options;          /* changed by vdbq_set() alone    */
    struct station *stations;        /* device's; the newest first     */
    struct opener *opener;           /* of the CPU device; NULL: none  */
    struct run_cache *runs;          /* of its tables' tablets         */
    uint64_t rows_stood_in;          /* that the host read in its place */
    bool opening_failed;             /* it is left to those who wait   */
    uint64_t host_rows_max;          /* 0: not looked up yet           */
    unsigned host_cores;             /* likewise                       */
    struct vdbq_changes changes;     /* of its statements so far       */
    struct vdbq_query *queries;      /* those that are open            */
    struct vdbq_append *append;      /* the one that is open, or NULL  */
    struct session_object *objects;  /* others that are open           */
    struct prepared *prepared;       /* statements with names          */
    struct transaction *transaction; /* that BEGIN or SAVEPOINT opened, or
                                        NULL                           */
    struct transaction *temporary_transaction; /* its part in temporary tables,
                                        once there are such            */
    bool saved_first;             /* SAVEPOINT did: the end of the oldest
                                        savepoint commits it           */
    vdbq *files;                  /* the database of files; or NULL */
    vdbq_file_reader file_reader; /* may be NULL                  */
    void *file_context;
    vdbq_copy_reader copy_reader; /* may be NULL                 */
    void *copy_context;
    bool copying; /* copy_reader is called: `transaction`, or
                                   (`copies_temporary`) `temporary_transaction`,
                                   is the statement's                     */
    bool copies_temporary;
    struct stop stop;
    bool executing; /* in vdbq_execute(): a cancel is for
                                   all statements                 */
    struct error error;
    struct text source;       /* line of SQL that `error` names */
    struct vdbq_error report; /* both, as the caller sees them  */
    struct catalogue *schema; /* for vdbq_table_...(); NULL: none */
    struct vector users;      /* of struct database_user: as vdbq_connections()
                                 found them                               */
    struct vdbq_connection user; /* one of them, as the caller sees it    */
    char user_name[OS_NAME_MAX]; /* ... and its program's name            */
    struct vector faults; /* of struct text: as vdbq_check() found them   */
    struct text schema_text;
};

/* Finds the devices that the connection's options ask for, where they are several;
 * they are open from then on until the connection is closed. `*cluster` NULL: it
 * is one device. Fails as the first of them that cannot be opened. The pointer is
 * NULL where src/cluster, which sets it, is no part of the program: several are then
 * no device's name. */
typedef enum vdbq_status session_finder(vdbq *db,
                                        struct session_cluster **cluster);
extern session_finder *session_crew_finder;
static inline enum vdbq_status session_crew(vdbq *db,
                                            struct session_cluster **cluster)
{
    *cluster = NULL;
    return session_crew_finder != NULL ? session_crew_finder(db, cluster)
                                       : VDBQ_OK;
}

/* Whether no other connection can see the database. */
bool session_in_memory(const vdbq *db);

/* A zeroed object of so many bytes, in the connection's list. Fails with
 * NO_MEMORY, and as session_begin(). */
enum vdbq_status session_create(vdbq *db, size_t size,
                                void (*close)(struct session_object *object),
                                void **object);
/* Takes it out of the list, and frees it. */
void session_destroy(struct session_object *object);

/* Fills `report` from `error`; the source line is looked up in `sql` (may be
 * NULL). Nothing happens where `db` is NULL. Returns `status`. */
enum vdbq_status session_report(vdbq *db, enum vdbq_status status,
                                const char *sql, size_t length);
/* Moves the position of the last failure, if it has one: it counted from
 * `start` and is to count from `text`, which lies before it. */
void session_move(vdbq *db, const char *text, const char *start);
/* Clears the last failure; MISUSE where the database is not open, where there
 * is no connection, or where it is another process's. */
enum vdbq_status session_begin(vdbq *db);
/* Whether the process is not that which opened it but a child that fork() made:
 * it has no threads, devices and files of it, only their bytes. */
bool session_is_inherited(const vdbq *db);
/* The failure of a call that was not given what it needs: `what`, "the SQL
 * text", is NULL. `db` may be NULL, too: then nothing is told. */
enum vdbq_status session_misuse(vdbq *db, const char *what);

/* A cancel from here on is for what begins now; in vdbq_execute(), where it is
 * for all statements, nothing changes. */
void session_hear_cancel(vdbq *db);
/* What has ended a query, which holds nothing any more. Signals make drivers'
 * compilers fail, which is then told as what the signal asked for: CANCELLED,
 * not DEVICE. The cancel is done with. */
enum vdbq_status session_ended_by(vdbq *db, enum vdbq_status status);

/* temporary.c: opens the database of temporary tables, if it is not open; within a
 * transaction that is a part of it from then on. */
enum vdbq_status session_temporary_open(vdbq *db);
/* What it has now, with what the transaction has made so far; NULL: nothing. */
const struct catalogue *session_temporary(const vdbq *db);
/* Whether a table of that name that is meant without a schema is a temporary one. */
bool session_is_temporary(const vdbq *db, const char *table);
/* A catalogue of both databases; held. `temporary` NULL: of one of them. */
enum vdbq_status session_join(vdbq *db, const struct catalogue *catalogue,
                              const struct catalogue *temporary,
                              struct catalogue **whole);
void session_temporary_close(vdbq *db);

/* session_transaction.c: where the transaction is that BEGIN opened, in the database of
 * temporary tables or in the other one. */
struct transaction **session_place(vdbq *db, bool temporary);
/* Opens what a query of the connection reads of one of them: what its transaction has
 * made so far, or the newest commit. */
enum vdbq_status session_snapshot(vdbq *db, bool temporary,
                                  struct snapshot *snapshot);
/* The transaction that a statement's changes of one of them belong to: the one that
 * BEGIN opened, marked, or one of its own. */
enum vdbq_status session_enter(vdbq *db, bool temporary,
                               struct transaction **transaction);
/* Ends the statement: keeps what it changed where `status` is OK, else nothing
 * has changed. */
enum vdbq_status session_leave(vdbq *db, struct transaction *transaction,
                               enum vdbq_status status);

/* BEGIN, and COMMIT and ROLLBACK, which end the transaction in any case. */
enum vdbq_status session_open(vdbq *db);
enum vdbq_status session_end(vdbq *db, bool commit);
/* SAVEPOINT, RELEASE and ROLLBACK TO. */
enum vdbq_status session_savepoint(vdbq *db, enum ast_statement_kind kind,
                                   const struct ast_name *name);

/* VACUUM; `done` NULL: nobody wants to know. MISUSE in a transaction. */
struct vacuum;
enum vdbq_status session_vacuum(vdbq *db, struct vacuum *done);

/* The connection that a table belongs to: this one, or that of its files. */
vdbq *session_of(vdbq *db, const struct table *table);

/* Frees the lines that vdbq_check() has found. */
void session_forget_faults(vdbq *db);

/* How the connection's database is opened, from that path (NULL: in memory). */
struct database_params session_params(vdbq *db, const char *path,
                                      unsigned flags);

/* Computes keys of indexes; an index_computer, whose context is the connection. */
enum vdbq_status session_compute_keys(void *context,
                                      const struct index_request *request,
                                      struct rows *keys, struct error *error);

/* First values of the options, from the environment. */
enum vdbq_status options_init(vdbq *db);

/* Where a query over `rows` rows is to run, opened if need be: the device
 * that was asked for, else the host below a number of rows and the first CPU
 * device above it. */
enum vdbq_status station_choose(vdbq *db, const struct settings *settings,
                                uint64_t rows, struct station **station);
void stations_close(vdbq *db);
/* Before a query runs: takes the device that was opened behind, once it is
 * open and no other query of the connection runs. */
void stations_settle(vdbq *db);

/* As of struct plan_limits: of the connection's own device, which is opened for
 * it. */
uint64_t session_probed_most(vdbq *db);
/* What plans of the connection keep to. */
struct plan_limits plan_limits_now(vdbq *db);

/* What the process keeps and holds of large memory goes by the query or change that
 * began last. */
void process_memory(const struct settings *settings);
/* The same, and bytes of host memory that the steps of queries may hold. */
uint64_t steps_memory(const struct settings *settings);

/* Threads of the host that a query may use. */
unsigned host_threads(vdbq *db, const struct settings *settings);

/* Where a program (NULL: none) is to run over `rows` rows, and how: rows of a
 * table, or where that is NULL, of no table. A device that was not asked for is
 * not waited for: the host runs what it has no kernels for yet. */
enum vdbq_status place_choose(vdbq *db, const struct settings *settings,
                              const struct table *table,
                              const struct program *program, uint64_t rows,
                              struct run_place *place);

#endif
