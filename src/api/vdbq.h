/* SPDX-License-Identifier: MIT */
/*
 * vdbq.h: the whole public interface of libvdbq, an embedded SQL engine whose
 * queries run as one opcode program on any OpenCL device.
 *
 * A complete program:
 *
 *     #include <stdio.h>
 *     #include <vdbq.h>
 *
 *     int main(void)
 *     {
 *         vdbq *db;
 *         vdbq_query *query;
 *         if (vdbq_open("my.vdb", VDBQ_OPEN_CREATE, &db) != VDBQ_OK)
 *             return fprintf(stderr, "%s\n", vdbq_error(db)->message), 1;
 *         vdbq_execute(db, "create table t (id integer primary key, x float);"
 *                          "insert into t values (1, 0.5), (2, 1.5)");
 *         if (vdbq_prepare(db, "select id, x * 2 from t", -1, &query, NULL)
 *                 == VDBQ_OK) {
 *             while (vdbq_query_row(query) == VDBQ_ROW)
 *                 printf("%lld %g\n", (long long)vdbq_query_int64(query, 0),
 *                        vdbq_query_double(query, 1));
 *             vdbq_query_close(query);
 *         }
 *         if (vdbq_error(db)->status != VDBQ_OK)
 *             fprintf(stderr, "%s\n", vdbq_error(db)->message);
 *         vdbq_close(db);
 *     }
 *
 * What holds everywhere, unless a call's comment says otherwise:
 *   - a call that can fail returns enum vdbq_status; the details are then in
 *     vdbq_error(db), and the database is as it was before the call;
 *   - text is UTF-8; text passed in is copied; text handed out belongs to the
 *     object it came from and lives until that object's next call;
 *   - a `vdbq` and what was made from it belong to one thread at a time;
 *     different `vdbq` objects may be used from different threads, also on
 *     one file; vdbq_cancel() alone may be called from anywhere;
 *   - each close accepts NULL;
 *   - a call that is not given what it needs (NULL, a number that no column,
 *     table or parameter has), or that comes at the wrong time, does nothing:
 *     where it returns a status this is MISUSE, unless its comment says RANGE,
 *     else 0, false, "" or NULL. What was closed must not be used any more;
 *   - a query whose run has failed gives MISUSE instead of rows until it is
 *     run again or a parameter is given;
 *   - a statement that is nested too deeply for the stack of the thread that
 *     runs it is LIMIT: 256 KiB suffice for what people write;
 *   - functions that a call calls (progress, readers, reports) may use no
 *     other call on the connection that called them but vdbq_cancel().
 *
 * Caveats, with remedies:
 *   - a query that is open keeps the state of the database it started with:
 *     close or finish it to let its space be used again;
 *   - vectors of a batch live until the next call on their query: copy what
 *     must live longer;
 *   - a connection that waits for another one of its own thread waits in vain,
 *     until the timeout: end the other's transaction first;
 *   - a child of fork() has no use of what its parent opened: calls fail with
 *     MISUSE, closing does nothing. It opens a connection of its own; on an
 *     OpenCL device only where the parent had used none (else DEVICE);
 *   - a file must not be written by anything else than vdbq while it is open.
 *
 * This header includes nothing of the project: every floor may include it.
 */
#ifndef VDBQ_H
#define VDBQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define VDBQ_API __attribute__((visibility("default")))
#else
#define VDBQ_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define VDBQ_VERSION "0.3.0"

/* ------------------------------------------------------------- status -- */

/* Every status with the sentence that vdbq_status_text() returns. */
/* clang-format off */
#define VDBQ_STATUSES(_)                                                     \
    _(OK,          0, "no error")                                            \
    _(MISUSE,      1, "the call is not allowed here")                        \
    _(NO_MEMORY,   2, "out of memory")                                       \
    _(SYNTAX,      3, "the text is not valid SQL")                           \
    _(UNKNOWN,     4, "no such table, column or option")                     \
    _(EXISTS,      5, "the name is taken")                                   \
    _(TYPE,        6, "the types do not fit")                                \
    _(RANGE,       7, "a value is out of range")                             \
    _(CONSTRAINT,  8, "a constraint does not hold")                          \
    _(LIMIT,       9, "a limit is exceeded")                                 \
    _(CANCELLED,  10, "cancelled")                                           \
    _(PROGRAM,    11, "the program is not well formed")                      \
    _(IO,         12, "the file could not be read or written")               \
    _(CORRUPT,    13, "the file is damaged")                                 \
    _(BUSY,       14, "the database is being written by another connection") \
    _(READ_ONLY,  15, "the database is open for reading only")               \
    _(DEVICE,     16, "the device cannot do it")                             \
    _(EXPIRED,    17, "an older state has been read for too long")           \
    _(ROW,       100, "a row is ready")                                      \
    _(DONE,      101, "no more rows")
/* clang-format on */

enum vdbq_status {
#define VDBQ_STATUS(name, number, text) VDBQ_##name = number,
    VDBQ_STATUSES(VDBQ_STATUS)
#undef VDBQ_STATUS
};

/* The sentence of a status; never NULL. */
VDBQ_API const char *vdbq_status_text(enum vdbq_status status);

/* The version of the library that runs: VDBQ_VERSION of its build. */
VDBQ_API const char *vdbq_version(void);

/* -------------------------------------------------------------- types -- */

/* What a column holds, and the C type of its values in vectors. Numbers are
 * stored little-endian. */
enum vdbq_type {
    VDBQ_TYPE_NONE = 0,
    VDBQ_INTEGER = 1,   /* int32_t                                         */
    VDBQ_BIGINT = 2,    /* int64_t                                         */
    VDBQ_FLOAT = 3,     /* float                                           */
    VDBQ_DOUBLE = 4,    /* double                                          */
    VDBQ_TEXT = 5,      /* struct vdbq_text                                */
    VDBQ_BOOLEAN = 6,   /* int32_t: 0 or 1                                 */
    VDBQ_SMALLINT = 7,  /* int32_t: -32768 to 32767                        */
    VDBQ_DECIMAL = 8,   /* int64_t: the digits, at most 18, of which the
                           column's scale stand behind the point           */
    VDBQ_DATE = 9,      /* int32_t: days since 1970-01-01                  */
    VDBQ_TIMESTAMP = 10 /* int64_t: microseconds since 1970-01-01 00:00:00 */
};

struct vdbq_text {
    const char *bytes; /* UTF-8, not ended by a NUL */
    size_t length;     /* in bytes                  */
};

/* The SQL name of a type, for instance "INTEGER"; never NULL. */
VDBQ_API const char *vdbq_type_name(enum vdbq_type type);
/* Whether a name of a table or column needs no quotes in SQL: letters, digits
 * and '_', and no word of SQL. */
VDBQ_API bool vdbq_name_is_plain(const char *name);

/* A value as a vector has it, of any type but TEXT, as text: 2024-02-29,
 * 2024-02-29 13:05:00.5, -12.50, true. `scale` is of DECIMAL. Writes at most
 * VDBQ_VALUE_BYTES with the NUL; returns the length, 0 where there is no such
 * type or scale. */
enum { VDBQ_VALUE_BYTES = 40 };
VDBQ_API size_t vdbq_value_print(enum vdbq_type type, unsigned scale,
                                 const void *value, char *room);
/* The other way round. Digits behind the scale are rounded. False where the
 * text is no value of that type; `precision` is of DECIMAL, too. A TEXT is the
 * bytes themselves, not copied: false where they are not UTF-8. */
VDBQ_API bool vdbq_value_parse(enum vdbq_type type, unsigned precision,
                               unsigned scale, const char *bytes, size_t length,
                               void *value);

/* ----------------------------------------------------- open and close -- */

typedef struct vdbq vdbq;             /* a connection to one database */
typedef struct vdbq_query vdbq_query; /* a prepared statement         */

enum vdbq_open_flags {
    VDBQ_OPEN_CREATE = 1,    /* make the file where there is none */
    VDBQ_OPEN_READ_ONLY = 2, /* refuse every change               */
    VDBQ_OPEN_NO_SYNC = 4,   /* fast, but a power cut can lose it all */
    VDBQ_OPEN_OLDER = 8      /* where the newest state is damaged, open the one
                                before it; a change makes that the newest */
};

/*
 * Opens the database in the file `path` (NULL or "" or ":memory:": a new one
 * in memory). `flags` is a sum of vdbq_open_flags. Nothing of a device is
 * touched until a query needs one.
 *
 * `*db` is set also on failure, so that vdbq_error() can be asked, unless
 * there was no memory for it; it must be closed with vdbq_close().
 * Files of an earlier vdbq are read as they are; the first change makes them
 * files that need vdbq 0.2. Fails with IO, CORRUPT (also where it needs a newer
 * vdbq), NO_MEMORY.
 */
VDBQ_API enum vdbq_status vdbq_open(const char *path, unsigned flags,
                                    vdbq **db);

/* What is wrong with the file although it can be used: a page of it is damaged
 * of which there is a copy, which the next write mends, or an older state is
 * open, with VDBQ_OPEN_OLDER. "": nothing, as of the last look at the file. */
VDBQ_API const char *vdbq_warning(const vdbq *db);

/* Closes queries, appenders, look-ups and stores left open, then the database. What was
 * committed stays; a session that changed nothing writes nothing. */
VDBQ_API void vdbq_close(vdbq *db);

/* The last failure of a call on `db` (or NULL: on vdbq_open without memory). */
struct vdbq_error {
    enum vdbq_status status;
    const char *message; /* one sentence with the facts               */
    const char *hint;    /* what to do about it, or ""                */
    unsigned line;       /* in the SQL text, from 1; 0: no position   */
    unsigned column;     /* in bytes, from 1                          */
    const char *source;  /* that line of the SQL text, or ""          */
};
VDBQ_API const struct vdbq_error *vdbq_error(const vdbq *db);

/*
 * Options, as text; they hold from the next query on.
 *   device  cpu | gpu | auto | host | P:D | name | gpu:all | cpu+gpu    VDBQ_DEVICE
 *   mode    auto | serial | streamed | mapped | cached         VDBQ_MODE
 *   build   auto | interpreted | specialised                   VDBQ_BUILD
 *   memory  bytes for tablets in host memory, and for what steps
 *           of queries hold, "4G"; 0: half of the machine's    VDBQ_MEMORY
 *   device_memory  bytes for tablets that stay on the device   VDBQ_DEVICE_MEMORY
 *   cores   compute units of the device to use, 0 = all        VDBQ_CORES
 *   encoding  auto | plain | packed, of rows that are added    VDBQ_ENCODING
 *   steps   auto | device | host: where rows are grouped, sorted    VDBQ_STEPS
 *   exchange  auto | on | off: ranks exchange rows by their keys      VDBQ_EXCHANGE
 *   skip    on | off: tablets in which no row can match        VDBQ_SKIP
 *   map     on | off: numbers are read where they lie in the file   VDBQ_MAP
 *   profiling  on | off: devices tell the times of kernels and
 *           transfers, which makes each command dearer         VDBQ_PROFILING
 *   timeout  milliseconds to wait for what others hold, 0 = none; 5000  VDBQ_TIMEOUT
 *   read_timeout  milliseconds after which a query that reads a state which is
 *           no longer the newest fails with EXPIRED at its next batch, and lets
 *           the state go; 0, the default: never                VDBQ_READ_TIMEOUT
 *   tablet_rows  rows of a full tablet, for tests; 0: 2^20     VDBQ_TABLET_ROWS
 * The environment variable on the right gives the first value. Fails with
 * UNKNOWN (no such option) or RANGE (no such value); a device is looked for
 * when it is first needed, or by vdbq_device_open().
 * With map a table that is larger than `memory` is read without being copied;
 * the device must share the host's memory and the mode be mapped, else queries
 * fail with DEVICE. Texts, and databases in memory, are copied as ever. Another
 * program that cuts the file meanwhile ends this one (SIGBUS), and what it
 * overwrites is read as it is then.
 */
VDBQ_API enum vdbq_status vdbq_set(vdbq *db, const char *option,
                                   const char *value);
/* The option's value, or NULL where there is no such option. */
VDBQ_API const char *vdbq_get(vdbq *db, const char *option);

/* What there is to be known of an option. */
struct vdbq_option {
    const char *name;     /* for vdbq_set()                        */
    const char *variable; /* of the environment                    */
    const char *value;    /* the first one, where that is not set  */
    const char *help;     /* one line: what it is, or its values   */
};
/* Option `number`, from 0 on; NULL: there are no more. For programs that list
 * them or take them on their command line. Belongs to the library. */
VDBQ_API const struct vdbq_option *vdbq_option(unsigned number);

/* Asks the query that runs on `db`, or was prepared last and is to run, to
 * stop; it ends with CANCELLED, and of vdbq_execute() all statements that are
 * left do. With that the cancel is done with: a query that is prepared, or run
 * again, after it runs. A change that is being
 * committed is done, not cancelled: where CANCELLED is returned, the statement
 * has changed nothing. May be called from any thread and from a signal
 * handler. */
VDBQ_API void vdbq_cancel(vdbq *db);

/* `progress` is called now and then, some ten times a second, whatever step a
 * statement is in, with how much is done of all: of one scan in rows, else in
 * parts of the work as far as it can be told, steps counting alike. The share
 * never gets less while a statement runs. It cancels the statement by returning
 * false. NULL: none. */
typedef bool (*vdbq_progress)(void *context, uint64_t done, uint64_t all);
VDBQ_API void vdbq_on_progress(vdbq *db, vdbq_progress progress, void *context);
/* For these: what is waited for that is no row, in words that stay, or NULL. */
VDBQ_API const char *vdbq_waits_for(const vdbq *db);

/* ------------------------------------------------------------ queries -- */

/* Runs every statement of `sql` and throws rows away. Each statement that
 * changes the database is committed and durable before the next one starts,
 * unless BEGIN opened a transaction: then COMMIT does this for all, ROLLBACK
 * undoes all, and closing the connection, too; a COMMIT that fails has undone
 * all, and the transaction is over. SAVEPOINT outside a transaction opens one,
 * too, which RELEASE of that savepoint commits. Queries of the connection see
 * what its transaction did, others do not. It has the writer's place from
 * BEGIN on, for which writers wait in turn, up to the option `timeout`; then
 * BUSY says who has it. vdbq_cancel() ends the wait. The first failure ends
 * the run, with what came before it kept. */
VDBQ_API enum vdbq_status vdbq_execute(vdbq *db, const char *sql);

/*
 * Prepares the first statement of `sql`, `length` bytes long (-1: up to its
 * NUL). `*tail`, where tail is not NULL, is set to what follows the statement
 * (on a syntax error: to what follows the next semicolon).
 * `*query` is NULL on failure and where there is no statement, only blanks
 * and comments; else it is the caller's and is closed with
 * vdbq_query_close(). Fails with SYNTAX, UNKNOWN, TYPE, RANGE, LIMIT ...
 */
VDBQ_API enum vdbq_status vdbq_prepare(vdbq *db, const char *sql,
                                       ptrdiff_t length, vdbq_query **query,
                                       const char **tail);

/* Prepares a program in the text form that EXPLAIN prints. It is checked
 * before it can run; fails with PROGRAM. Else as vdbq_prepare(). */
VDBQ_API enum vdbq_status vdbq_prepare_program(vdbq *db, const char *text,
                                               vdbq_query **query);

/*
 * Parameters of a statement: `?` is the next number from 1, ?3 or $3 that one,
 * :name, $name or @name the same number wherever it stands. They stand where a value may,
 * also in LIMIT. One that no value was given is NULL. Values are copied and
 * stay until another is given; giving one ends the query's run, so that the
 * next call starts it again.
 *
 * Types of result columns may follow from those of values: ask once the query
 * runs. A failure that values could mend is told when it runs.
 */
VDBQ_API unsigned vdbq_query_parameters(const vdbq_query *query);
/* The name without the sign before it, or "". */
VDBQ_API const char *vdbq_query_parameter_name(const vdbq_query *query,
                                               unsigned parameter);
/* The number of a name, with or without the sign before it; 0: there is none. */
VDBQ_API unsigned vdbq_query_parameter_index(const vdbq_query *query,
                                             const char *name);
/* Fail with RANGE: no such number, or text that is not UTF-8. The number NaN
 * is NULL, and so is a text at NULL. `length` is in bytes (-1: up to the NUL).
 * Dates and times are given as text. */
VDBQ_API enum vdbq_status vdbq_bind_null(vdbq_query *query, unsigned parameter);
VDBQ_API enum vdbq_status vdbq_bind_int64(vdbq_query *query, unsigned parameter,
                                          int64_t value);
VDBQ_API enum vdbq_status vdbq_bind_double(vdbq_query *query,
                                           unsigned parameter, double value);
VDBQ_API enum vdbq_status vdbq_bind_text(vdbq_query *query, unsigned parameter,
                                         const char *bytes, ptrdiff_t length);
/* Makes all of them NULL. */
VDBQ_API void vdbq_bind_clear(vdbq_query *query);

/* Starts the statement, or starts it again from its first row. What changes the database
 * is done when it returns. vdbq_query_row() and vdbq_query_batch() call it, too. */
VDBQ_API enum vdbq_status vdbq_query_run(vdbq_query *query);

/* Ends the query, lets its snapshot of the database go and frees it. */
VDBQ_API void vdbq_query_close(vdbq_query *query);

/* Result columns: how many (0 for a statement without rows), names, types. A
 * change with RETURNING has rows, too; it is done when vdbq_query_run() returns,
 * whether they are read or not. */
VDBQ_API unsigned vdbq_query_columns(const vdbq_query *query);
VDBQ_API const char *vdbq_query_column_name(const vdbq_query *query,
                                            unsigned column);
VDBQ_API enum vdbq_type vdbq_query_column_type(const vdbq_query *query,
                                               unsigned column);
/* Of a DECIMAL: how many digits stand behind the point; else 0. */
VDBQ_API unsigned vdbq_query_column_scale(const vdbq_query *query,
                                          unsigned column);

/* Neighbouring rows, column by column. */
struct vdbq_vector {
    enum vdbq_type type;
    const void *values;   /* `rows` values of the type's C type, neighbours;
                             one that is NULL may be anything               */
    const uint8_t *nulls; /* NULL: none; else 1 where the value is NULL     */
};
struct vdbq_batch {
    uint64_t rows;    /* 0: the end          */
    unsigned columns; /* vectors in `column` */
    const struct vdbq_vector *column;
};

/*
 * The next rows, as many as came together; rows == 0 after the last. The
 * vectors are the query's and live until its next call. Rows come in table
 * order. Fails with what the run fails with, RANGE for an integer overflow: the
 * call behind the last row before the one that fails.
 */
VDBQ_API enum vdbq_status vdbq_query_batch(vdbq_query *query,
                                           struct vdbq_batch *batch);

/* Steps to the next row: VDBQ_ROW, VDBQ_DONE after the last, or a failure.
 * Rows and batches of one run must not be mixed (MISUSE). */
VDBQ_API enum vdbq_status vdbq_query_row(vdbq_query *query);

/* A value of the row at hand, converted as CAST would; 0 for NULL. A text is
 * the number that it starts with, or 0. A date counts days, a timestamp microseconds. */
VDBQ_API bool vdbq_query_is_null(const vdbq_query *query, unsigned column);
VDBQ_API int64_t vdbq_query_int64(const vdbq_query *query, unsigned column);
VDBQ_API double vdbq_query_double(const vdbq_query *query, unsigned column);
/* As text, ended by a NUL; "" for NULL; lives until the next call for text
 * of this column. */
VDBQ_API const char *vdbq_query_text(vdbq_query *query, unsigned column);

/* The file that a COPY TO statement names, whose rows are the query's: the
 * library writes no files but databases. NULL: it is no such statement. */
VDBQ_API const char *vdbq_query_copy_file(const vdbq_query *query);

/* What a COPY statement says; texts are NULL where it says nothing. They live as
 * long as the query. */
struct vdbq_copy {
    const char *file;
    const char *table; /* COPY FROM: that the rows go to; COPY TO: NULL */
    const char *const *columns; /* COPY FROM: of it, those that the file has,
                                   in its order; NULL: not said             */
    unsigned column_count;
    int header;            /* HEADER: 1, 0; -1: not said                   */
    const char *format;    /* FORMAT: "csv"; not checked                    */
    const char *delimiter; /* DELIMITER: one byte                           */
    const char *quote;     /* QUOTE: one byte, or "": none                  */
    const char *escape;    /* ESCAPE: one byte                              */
    const char *null_text; /* NULL: what stands for NULL                    */
};
/* NULL: the statement is no COPY, or one that EXPLAIN shows. */
VDBQ_API const struct vdbq_copy *vdbq_query_copy(const vdbq_query *query);

/*
 * Files in queries: FROM 'name'. `reader` is called for each one when the
 * statement is prepared and when it runs. It makes a table that is called as
 * the file is, to the letter, in `files`: a database in memory that belongs
 * to `db` and lives as long; or leaves what an earlier call made. It may use
 * `files` as any other connection, where what cancels the query ends its calls,
 * too, and tells a failure with vdbq_fail().
 * NULL, as at first: such statements fail with UNKNOWN.
 */
typedef enum vdbq_status (*vdbq_file_reader)(void *context, vdbq *files,
                                             const char *file);
VDBQ_API void vdbq_on_file(vdbq *db, vdbq_file_reader reader, void *context);

/*
 * COPY FROM: `reader` is called when the statement runs, with the connection
 * that runs it. It adds the file's rows to the table, with one append that it
 * opens there (vdbq_append_open()). Of other calls on that connection it may use
 * vdbq_tables() and those that ask for tables, columns and options, queries that
 * change nothing, vdbq_progressed(), and vdbq_fail(), by which it tells a failure:
 * the statement then has changed nothing. NULL, as at first: such statements
 * fail with UNKNOWN.
 */
typedef enum vdbq_status (*vdbq_copy_reader)(void *context, vdbq *db,
                                             const struct vdbq_copy *copy);
VDBQ_API void vdbq_on_copy(vdbq *db, vdbq_copy_reader reader, void *context);
/* Such a reader: of CSV, plain or packed by gzip or zstd (told by its first bytes),
 * as the shell's .import reads it: `vdbq_on_copy(db, vdbq_copy_csv, NULL)`. "-" is
 * standard input. The file is read by several threads. While it is, SIGBUS is
 * caught, which comes where another program cuts it. Fails, with the file's name,
 * line and column, with IO, TYPE, RANGE, UNKNOWN, CONSTRAINT, CORRUPT (a packed file
 * that is cut or damaged), LIMIT (a record of one over 128 MiB), CANCELLED. */
VDBQ_API enum vdbq_status vdbq_copy_csv(void *context, vdbq *db,
                                        const struct vdbq_copy *copy);
/* For readers: so much of all work is done (`all` 0: nobody knows), which the
 * connection's progress function is told. False: they are to end, with
 * CANCELLED. Ask some twenty times a second. */
VDBQ_API bool vdbq_progressed(vdbq *db, uint64_t done, uint64_t all);

/* Sets the last failure of a connection; `hint` may be NULL. Returns the
 * status. For what stands between the library and its user, as readers do. */
VDBQ_API enum vdbq_status vdbq_fail(vdbq *db, enum vdbq_status status,
                                    const char *message, const char *hint);

/* What a run cost, complete once its last row was read. Times are in
 * nanoseconds; 0 where nothing of the kind happened. Texts live until the
 * query's next call; where several steps ran in different ways, they are
 * listed. */
struct vdbq_stats {
    const char *device; /* where it ran, for instance "host" or "NVIDIA H200" */
    const char *mode;   /* "serial", "streamed", "mapped", "cached"   */
    const char *build;  /* "interpreted", "specialised", "adaptive (N of M
                           launches specialised)", "... from launch N)"  */
    const char *steps;  /* where rows were grouped and sorted, for instance
                           "host" or "NVIDIA H200 (hashed)"; "": nowhere */
    uint64_t rows_read; /* rows of tables that the program ran over   */
    uint64_t cells;     /* of grids: pairs or triples of rows         */
    uint64_t rows_returned;
    uint64_t rows_changed;    /* that INSERT added, DELETE took out, or
                               UPDATE's condition held for               */
    uint64_t bytes_read;      /* of the columns that the program ran over   */
    uint64_t bytes_mapped;    /* of which so many were read where they lie
                               in the file (option map)                   */
    uint64_t tablets;         /* that the table has                       */
    uint64_t tablets_skipped; /* of which minimum and maximum told that
                                 nothing would come                       */
    uint64_t bytes_in;        /* moved to the device                        */
    uint64_t bytes_out;       /* moved from the device                      */
    uint64_t kernel_ns;       /* in kernels, by the device's own clock; what
                               runs beside another counts once. With the
                               option profiling off 0, or a part of it;
                               EXPLAIN ANALYZE shows it in any case       */
    uint64_t transfer_ns;     /* in transfers, both ways; they may overlap
                               one another, and kernels. Likewise         */
    uint64_t compile_ns;      /* building programs for the device           */
    unsigned builds;          /* of them; 0: all were there                 */
    unsigned builds_cached;   /* of which some process made before        */
    uint64_t load_ns;         /* reading tablets from the file              */
    uint64_t total_ns;        /* inside calls on this query since its start */
    unsigned launches;        /* kernels started                            */
    uint64_t plan_ns;         /* planning the statement, when it was last
                               planned; parsing it not                    */
};
VDBQ_API void vdbq_query_stats(const vdbq_query *query,
                               struct vdbq_stats *stats);

/* What a connection's INSERTs, UPDATEs, DELETEs and COPY FROMs have changed: what
 * SQL's changes() and its siblings give. A rollback takes nothing back. */
struct vdbq_changes {
    uint64_t rows;  /* by the last one, as rows_changed; 0: it failed */
    uint64_t total; /* by all of them                                 */
    int64_t key;    /* of the row that was inserted last, where the primary
                       key is one integer; 0: none was                */
};
VDBQ_API void vdbq_get_changes(const vdbq *db, struct vdbq_changes *changes);

/* --------------------------------------------------------------- keys -- */

/*
 * Gives a parameter `count` values, which stand for it in the list of an IN, by
 * themselves or among others: with an array, `WHERE id IN (?)` asks for the rows
 * that have one of them, just as if all were written there. The list may have
 * any length, be empty, and have NULLs; rows are found by an index or a key as
 * with such a list. `values` is of any type but DECIMAL, whose values are given
 * as TEXT or DOUBLE; a NaN is NULL. Copied. Elsewhere than in the list of an IN
 * an array is refused with TYPE when the statement runs. The statement is
 * planned anew for each array: to ask for one row, an = with one value is faster.
 * Fails with RANGE (no such number, a text that is not UTF-8 or has a NUL, a
 * date out of range), TYPE (DECIMAL), MISUSE (values are missing), NO_MEMORY.
 */
VDBQ_API enum vdbq_status vdbq_bind_array(vdbq_query *query, unsigned parameter,
                                          uint64_t count,
                                          const struct vdbq_vector *values);

/* Looking rows up by the values of a column, many at once. */
typedef struct vdbq_lookup vdbq_lookup;

/*
 * Prepares look-ups in a table. `by` is one of its columns, or an index of one
 * column; they are fast where it is the primary key, UNIQUE, or has an index.
 * `results` is what is wanted of each row, as a SELECT lists it: "name, price *
 * 2"; NULL: its `rowid` alone. `*lookup` is NULL on failure, else the
 * caller's, to be closed with vdbq_lookup_close(). Fails with UNKNOWN, TYPE (the
 * index has several columns, the column has a COLLATE), SYNTAX ... as the SELECT.
 */
VDBQ_API enum vdbq_status vdbq_lookup_open(vdbq *db, const char *table,
                                           const char *by, const char *results,
                                           vdbq_lookup **lookup);

/*
 * Looks up `count` keys in one query, in the newest state of the table, or in
 * that of the connection's transaction. `keys` is of the column's type, or
 * INTEGER, BIGINT and SMALLINT for one another, FLOAT and DOUBLE likewise; a
 * DECIMAL has the column's scale. `batch` gets one row a key, in the order of
 * the keys: first the row's `rowid`, which is the primary key or, in a table
 * without one, the number of the row, as BIGINT; then the results. Where no row
 * has the key, or it is NULL, all of them are NULL. Where several rows have it,
 * the first one in the table's order counts. The vectors are the look-up's and
 * live until its next call. Fails with TYPE, RANGE (a key that its type has not,
 * a text with a NUL in it, more than 2^32 - 3 keys), and as the SELECT.
 */
VDBQ_API enum vdbq_status vdbq_lookup_rows(vdbq_lookup *lookup, uint64_t count,
                                           const struct vdbq_vector *keys,
                                           struct vdbq_batch *batch);

/* Ends the look-ups, and frees what the last one gave. */
VDBQ_API void vdbq_lookup_close(vdbq_lookup *lookup);

/* A table with a primary key as a store of values by keys. */
typedef struct vdbq_store vdbq_store;

/* A key or a value of a store. Dates, times and DECIMAL are TEXT. */
struct vdbq_item {
    enum vdbq_type type; /* NONE: NULL; BIGINT, DOUBLE, TEXT: which of ... */
    int64_t integer;
    double real;
    struct vdbq_text text; /* UTF-8, of up to 2^28 bytes (256 MiB) */
};

/*
 * Opens a store: `table` has a PRIMARY KEY, and `value` is another one of its
 * columns. What the store does are statements that the table is asked by, so
 * that it mixes with all other SQL, transactions too: outside of one each change
 * is durable when its call returns. `*store` is NULL on failure, else the
 * caller's, to be closed with vdbq_store_close(). Fails with UNKNOWN, TYPE (no
 * primary key, or the value is it).
 */
VDBQ_API enum vdbq_status vdbq_store_open(vdbq *db, const char *table,
                                          const char *value,
                                          vdbq_store **store);

/* The value of a key: ROW, or DONE where the key is not there, and a failure
 * else. The value's text is the store's and lives until its next call. */
VDBQ_API enum vdbq_status vdbq_store_get(vdbq_store *store,
                                         const struct vdbq_item *key,
                                         struct vdbq_item *value);

/* Sets the value of a key, which is added where it is not there, other columns
 * then with their DEFAULTs; else they stay as they are. Copied. Fails with
 * CONSTRAINT, TYPE, RANGE (text that is not UTF-8), BUSY, READ_ONLY, IO ... */
VDBQ_API enum vdbq_status vdbq_store_put(vdbq_store *store,
                                         const struct vdbq_item *key,
                                         const struct vdbq_item *value);

/* Deletes a key with its row. `*was_there` (may be NULL) is set to whether there
 * was one. Fails as vdbq_store_put(). */
VDBQ_API enum vdbq_status vdbq_store_delete(vdbq_store *store,
                                            const struct vdbq_item *key,
                                            bool *was_there);

/* Starts to read keys in their order: from `low` on, below `high`; NULL: there
 * is no such bound. What changes from then on is not seen. */
VDBQ_API enum vdbq_status vdbq_store_scan(vdbq_store *store,
                                          const struct vdbq_item *low,
                                          const struct vdbq_item *high);
/* The next key and its value: ROW, DONE after the last one, or a failure. Texts
 * are the store's and live until its next call of this name, or of
 * vdbq_store_scan(). */
VDBQ_API enum vdbq_status vdbq_store_next(vdbq_store *store,
                                          struct vdbq_item *key,
                                          struct vdbq_item *value);

/* Ends the use of the store; the table stays. */
VDBQ_API void vdbq_store_close(vdbq_store *store);

/* ------------------------------------------------------------- append -- */

typedef struct vdbq_append vdbq_append;

/* Starts to append rows to a table, as one transaction. One at a time; a
 * query may read meanwhile and sees none of its rows. Where BEGIN opened a
 * transaction, they become a part of it, and queries may see those that were
 * appended so far. Fails with UNKNOWN, BUSY, READ_ONLY. */
VDBQ_API enum vdbq_status vdbq_append_open(vdbq *db, const char *table,
                                           vdbq_append **append);

/* Appends `rows` rows: one vector for each column of the table, in its order
 * (the primary key, too), of that column's type; one of VDBQ_TYPE_NONE stands
 * for the column's DEFAULT, or NULL, in each row. Copied. Fails with TYPE,
 * RANGE (a value that the type has not, text that is not UTF-8), CONSTRAINT
 * (a NULL key, a key twice), IO, NO_MEMORY; after a failure only
 * vdbq_append_close() is allowed. */
VDBQ_API enum vdbq_status vdbq_append_rows(vdbq_append *append, uint64_t rows,
                                           const struct vdbq_vector *vectors);

/* Makes every row appended so far part of the table, durably. */
VDBQ_API enum vdbq_status vdbq_append_commit(vdbq_append *append);

/* Ends the append; rows that were not committed are gone. */
VDBQ_API void vdbq_append_close(vdbq_append *append);

/* ------------------------------------------------------------- schema -- */

/* Tables in order of creation, temporary ones last. The strings live until the next call. */
VDBQ_API unsigned vdbq_tables(vdbq *db);
VDBQ_API const char *vdbq_table_name(vdbq *db, unsigned table);
VDBQ_API bool vdbq_table_is_temporary(vdbq *db, unsigned table);
VDBQ_API uint64_t vdbq_table_rows(vdbq *db, unsigned table);
VDBQ_API uint64_t vdbq_table_tablets(vdbq *db, unsigned table);
/* Of its rows, those in the sample on which the planner tries conditions; 0: none. */
VDBQ_API uint64_t vdbq_table_sample_rows(vdbq *db, unsigned table);
/* How many values of its rows, and rows that are gone, stand in edits beside its
 * tablets: what UPDATE and DELETE of few rows leave until VACUUM, or until a
 * tablet has so many that it is written anew. */
VDBQ_API uint64_t vdbq_table_edits(vdbq *db, unsigned table);
/* How many runs the file has of it: the order of a tablet's rows by a key, by what
 * is UNIQUE, or by an index. A tablet of few rows that is not full has none. */
VDBQ_API uint64_t vdbq_table_runs(vdbq *db, unsigned table);
/* The CREATE TABLE statement that makes an equal, empty table. */
VDBQ_API const char *vdbq_table_sql(vdbq *db, unsigned table);
VDBQ_API unsigned vdbq_table_columns(vdbq *db, unsigned table);
VDBQ_API const char *vdbq_table_column_name(vdbq *db, unsigned table,
                                            unsigned column);
VDBQ_API enum vdbq_type vdbq_table_column_type(vdbq *db, unsigned table,
                                               unsigned column);
/* Of a DECIMAL column: its digits in all, and those behind the point. */
VDBQ_API unsigned vdbq_table_column_precision(vdbq *db, unsigned table,
                                              unsigned column);
VDBQ_API unsigned vdbq_table_column_scale(vdbq *db, unsigned table,
                                          unsigned column);

/* Views and indexes as vdbq_tables() found them, with the statement that makes each;
 * "" for a number that none has. */
VDBQ_API unsigned vdbq_views(vdbq *db);
VDBQ_API const char *vdbq_view_name(vdbq *db, unsigned view);
VDBQ_API bool vdbq_view_is_temporary(vdbq *db, unsigned view);
VDBQ_API const char *vdbq_view_sql(vdbq *db, unsigned view);
VDBQ_API unsigned vdbq_indexes(vdbq *db);
VDBQ_API const char *vdbq_index_name(vdbq *db, unsigned index);
VDBQ_API const char *vdbq_index_table(vdbq *db, unsigned index);
VDBQ_API const char *vdbq_index_sql(vdbq *db, unsigned index);

/* ---------------------------------------------------------------- file -- */

/* Bytes of the database's file. */
struct vdbq_vacuum {
    uint64_t before_bytes; /* when VACUUM began                           */
    uint64_t after_bytes;  /* when it ended                               */
    uint64_t read_bytes;   /* of these, that others read as older states: until
                              the next VACUUM after that                  */
};

/* Makes the file as short as it can be, as VACUUM does, and tells what became of
 * it. It moves blocks in commits of its own, so that what others read and what a
 * crash leaves is whole; vdbq_cancel() ends it between two of these. Fails with
 * MISUSE in a transaction and of part files, BUSY, CANCELLED, READ_ONLY, CORRUPT (a
 * tablet that was to be moved), IO, NO_MEMORY: what was moved until then stays so. */
VDBQ_API enum vdbq_status vdbq_vacuum(vdbq *db, struct vdbq_vacuum *done);

/* Proves all that the newest commit, or the open transaction, has in the file, and
 * says how many faults there are; 0 also on failure (CANCELLED, IO, NO_MEMORY). Then
 * fault `number`, from 0 on, as a line, until the next check; NULL: no more. */
VDBQ_API unsigned vdbq_check(vdbq *db);
VDBQ_API const char *vdbq_fault(vdbq *db, unsigned number);

/* What a connection does with the database's file at a moment. */
struct vdbq_connection {
    int process;           /* that has it; 0: of another machine, not known  */
    const char *program;   /* the process's name; "": not known              */
    bool own;              /* it is the connection that asks                 */
    bool writes;           /* a transaction is open on it; else it reads     */
    uint64_t state;        /* the commit that it reads, or goes on from:
                              they are counted                               */
    uint64_t newer_states; /* commits that came after that: what these freed
                              is kept while somebody reads it                */
    double seconds;        /* since it began to; 0: not known                */
};
/* Finds all connections, of all processes, that read or write the file at this
 * moment, and says how many there are: 0 also on failure (IO, CORRUPT, NO_MEMORY).
 * One that reads several states is there once for each, one that does nothing is
 * not. A database in memory has none but its own. */
VDBQ_API unsigned vdbq_connections(vdbq *db);
/* Connection `number` of these, from 0 on; NULL: there are no more. It is the
 * library's, and lives until the next call of these two. */
VDBQ_API const struct vdbq_connection *vdbq_connection(vdbq *db,
                                                       unsigned number);

/* ------------------------------------------------------------ devices -- */

/* The devices of this machine as a text table, with the way to choose one;
 * or, where there is none, why not and what to install. Needs no database.
 * The caller frees the text with vdbq_free(). `devices` (may be NULL) is set
 * to how many there are, the host build not counted. NULL: no memory. */
VDBQ_API char *vdbq_devices(unsigned *devices);

/* Opens the device that the options name now instead of at the next query.
 * Fails with DEVICE: none or several match, of which the hint lists what there
 * is, or it cannot do what the other options ask for. */
VDBQ_API enum vdbq_status vdbq_device_open(vdbq *db);

/* Compiles the interpreted machine for programs of so many registers and so
 * many tables beside one another for the chosen device, and keeps it on disk:
 * the next query that needs it does not wait. Then those specialised ones that
 * queries ordered. Does nothing where all are there. Queries have this done behind
 * them by the shell's --kernels. Fails with DEVICE, RANGE. */
VDBQ_API enum vdbq_status vdbq_build_kernels(vdbq *db, unsigned registers,
                                             unsigned tables);

/* Runs every opcode on the chosen device, interpreted and specialised, in
 * every mode, and compares with the host build bit by bit. `report` is
 * called with a line of text for each group of opcodes. Fails with DEVICE
 * at a difference. */
typedef void (*vdbq_report)(void *context, const char *line);
VDBQ_API enum vdbq_status vdbq_selftest(vdbq *db, vdbq_report report,
                                        void *context);

/* Measures a few shapes of the machine on the chosen device, which takes
 * seconds, and keeps the best in a small text file beside the kernel cache
 * ($XDG_CACHE_HOME/vdbq/tune), together with the rates by which queries decide
 * where they run and what they compile. Without it the built-in values hold.
 * `report` is called with each line of the table. Fails with DEVICE, IO,
 * CANCELLED; the tuning is then as it was. */
VDBQ_API enum vdbq_status vdbq_tune(vdbq *db, vdbq_report report,
                                    void *context);

/* How fast memory is here, in GB (10^9 bytes) a second; 0: not measured. */
struct vdbq_limits {
    double memory_read; /* a kernel reads the device's memory             */
    double copy_in;     /* pinned host memory to the device's             */
    double copy_out;    /* ... and back                                   */
    double copy_both;   /* both ways at once, together                    */
    double host_read;   /* the cores of this machine read its memory      */
    bool shares_memory; /* with the host: copies are no limit then        */
};

/* Measures the limits of the chosen device, which takes up to a second;
 * EXPLAIN ANALYZE compares with those that were measured last, here or by
 * vdbq_tune(). Fails with DEVICE, NO_MEMORY. */
VDBQ_API enum vdbq_status vdbq_measure_limits(vdbq *db,
                                              struct vdbq_limits *limits);

/* Calls work(context, i) for each i below `count`, on the library's workers (a
 * thread for each core but one) and on the caller's; returns when all calls have.
 * They come in any order, several at a time, and must not wait for each other. It
 * needs no connection. `work` NULL: nothing happens. */
typedef void (*vdbq_work)(void *context, unsigned i);
VDBQ_API void vdbq_run_loop(unsigned count, vdbq_work work, void *context);

/* Frees text that a call gave to its caller. */
VDBQ_API void vdbq_free(void *text);

#ifdef __cplusplus
}
#endif
#endif
