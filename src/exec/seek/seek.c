/* SPDX-License-Identifier: MIT */
/*
 * STEP_SEEK: rows of a table by values of their columns. Tablets whose facts say
 * that they have none are passed over. In the others the rows are found
 * (seek_find.h), then the columns that are read are picked, by all threads where
 * there are many. All rows are found when the step is opened. What they take is
 * taken from the account in any case: they are few, as the planner has it, and
 * without them nothing can go on.
 */
#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "base/os/os.h"
#include "base/text.h"
#include "base/threads/parallel.h"
#include "exec/seek/picked.h"
#include "exec/seek/seek_given.h"
#include "exec/seek/seek_find.h"
#include "exec/rows/rescan.h"
#include "exec/stream/stream_inner.h"

enum {
    PART_ROWS = 1 << 11, /* that a thread picks at once                     */
    HELD_PARTS = 8,      /* for each thread, of tablets that are held       */
    MANY_ROWS = 1 << 12, /* that are worth waking a thread                  */
    LIST_ROWS = 256,     /* that are listed at once                         */
    REST_ROWS = 1 << 10, /* for which a seek that rests has room at most    */
    NUMBER_BYTES = 24    /* of a number as text                             */
};

struct seek_stream {
    struct stream head; /* first */
    struct seek_work work;
    struct picked picked;        /* the rows                              */
    uint64_t given;              /* rows that are out                     */
    struct vdbq_vector *vectors; /* of the batch                          */
    unsigned *columns;           /* of the table, that are read           */
    unsigned column_count;       /* of these                              */
    struct row_set input;        /* rows whose values are looked for      */
    struct vdbq_vector fed[SEEK_FROM_MAX];  /* ... these values, by column */
    void *words[SEEK_FROM_MAX];             /* ... texts; else NULL        */
    struct vdbq_vector list[SEEK_KEYS_MAX]; /* of values that the step has */
    void *made[SEEK_KEYS_MAX]; /* ... what was made for these; or NULL    */
    char where[160];           /* for stats                             */
    struct seek_searches told; /* what it tells, where all was on the host */
};

static const struct step_seek *step_of(const struct seek_stream *seek)
{
    return &seek->head.step->seek;
}

/* ----------------------------------------------------------------- pick -- */

/* Jobs whose tablets are held: [first, end). Their rows are picked part by part;
 * the parts of a job come one after the other. */
struct picking {
    struct seek_stream *seek;
    size_t first, end;
    atomic_uint_fast64_t next; /* part that nobody has begun     */
    atomic_bool failed;
    struct error *error; /* of the thread that did so first      */
};

/* The job that part `*part` of all of them is of; it becomes one of the job's.
 * NULL: there are not so many. */
static const struct seek_job *job_of(const struct picking *picking,
                                     uint64_t *part)
{
    const struct seek_job *jobs = picking->seek->work.jobs;

    for (size_t i = picking->first; i < picking->end; i++) {
        uint64_t parts = (jobs[i].found.count + PART_ROWS - 1) / PART_ROWS;
        if (*part < parts)
            return &jobs[i];
        *part -= parts;
    }
    return NULL;
}

/* Where rows of a job are picked, while its tablet is held: it is not where their
 * numbers say all that is read of them. */
static struct picked_from from_of(const struct seek_job *job)
{
    return (struct picked_from){ .ref = job->ref,
                                 .tablet =
                                     job->slot != NULL
                                         ? device_memory_host(job->slot->memory)
                                         : job->few.tablet,
                                 .over = job->over };
}

/* Picks rows [first, end) of those that were found in a tablet. */
static enum vdbq_status pick_rows(struct seek_stream *seek,
                                  const struct seek_job *job, uint64_t first,
                                  uint64_t end, unsigned thread,
                                  struct error *error)
{
    const struct picked_from from = from_of(job);
    const uint32_t *found = job->found.items;
    struct picked_row rows[LIST_ROWS];
    enum vdbq_status status = VDBQ_OK;

    for (uint64_t at = first, count; at < end && status == VDBQ_OK;
         at += count) {
        count = end - at < LIST_ROWS ? end - at : LIST_ROWS;
        for (uint64_t i = 0; i < count; i++)
            rows[i] = (struct picked_row){ found[at + i],
                                           (uint32_t)(job->to + at + i) };
        status =
            picked_read_part(&seek->picked, thread, &from, rows, count, error);
    }
    return status;
}

/* On whatever thread: picks parts while there are any. */
static void pick_parts(void *context, unsigned thread)
{
    struct picking *picking = context;
    struct error error;

    error_clear(&error);
    while (!atomic_load(&picking->failed)) {
        uint64_t part = atomic_fetch_add(&picking->next, 1), first, left;
        const struct seek_job *job = job_of(picking, &part);
        if (job == NULL)
            return;
        first = part * PART_ROWS;
        left = job->found.count - first;
        if (pick_rows(picking->seek, job, first,
                      first + (left < PART_ROWS ? left : PART_ROWS), thread,
                      &error)
                != VDBQ_OK
            && !atomic_exchange(&picking->failed, true))
            *picking->error = error;
    }
}

static uint64_t rows_held(const struct picking *picking)
{
    uint64_t rows = 0;

    for (size_t i = picking->first; i < picking->end; i++)
        rows += picking->seek->work.jobs[i].found.count;
    return rows;
}

/* Picks the rows of what is held, and lets it go. */
static enum vdbq_status pick_held(struct picking *picking, struct error *error)
{
    struct seek_work *work = &picking->seek->work;
    unsigned threads = stream_threads(work->params);
    uint64_t rows = rows_held(picking);

    if (rows < MANY_ROWS)
        threads = 1;
    else if (threads > rows / PART_ROWS)
        threads = (unsigned)(rows / PART_ROWS);
    if (threads > PARALLEL_THREADS_MAX)
        threads = PARALLEL_THREADS_MAX;
    atomic_store(&picking->next, 0);
    picking->error = error;
    if (threads > 1)
        parallel_run(threads, pick_parts, picking);
    else
        pick_parts(picking, 0);
    seek_release(work, work->jobs + picking->first,
                 picking->end - picking->first);
    picking->first = picking->end;
    return atomic_load(&picking->failed) ? error->status : stop_pause(error);
}

/* Brings in the rows of a job alone, where these are few. */
static enum vdbq_status hold_few(struct seek_stream *seek, struct seek_job *job,
                                 struct error *error)
{
    struct pool *pool = seek->work.place.pool;
    const struct pool_want want = { .table = seek->work.terms.table,
                                    .tablet = &job->in,
                                    .columns = seek->columns,
                                    .column_count = seek->column_count,
                                    .copied = true };
    uint64_t start;
    enum vdbq_status status;

    if (!few_rows_pay(pool, &want, job->found.count))
        return VDBQ_OK;
    start = os_time_ns();
    status = few_rows_open(&job->few, pool, &want, error);
    if (status == VDBQ_OK && job->few.tablet != NULL)
        status = few_rows_bring(&job->few, job->found.items, job->found.count,
                                error);
    seek->work.load_ns += os_time_ns() - start;
    return status;
}

/* Brings in the tablet of the next job, after what is held where there is no
 * room beside that. */
static enum vdbq_status hold_next(struct picking *picking, struct error *error)
{
    struct seek_stream *seek = picking->seek;
    struct seek_job *job = &seek->work.jobs[picking->end];
    struct picked_from from;
    bool full = false;
    enum vdbq_status status = VDBQ_OK;

    if (seek->column_count > 0)
        status = hold_few(seek, job, error);
    if (status == VDBQ_OK && seek->column_count > 0 && job->few.tablet == NULL)
        status = seek_hold(&seek->work, job, seek->columns, seek->column_count,
                           picking->end > picking->first, &full, error);
    if (full)
        status = pick_held(picking, error);
    if (full && status == VDBQ_OK)
        status = seek_hold(&seek->work, job, seek->columns, seek->column_count,
                           false, &full, error);
    picking->end++;
    if (status != VDBQ_OK)
        return status;
    from = from_of(job);
    return picked_flags(&seek->picked, &from, error);
}

static enum vdbq_status pick_all(struct picking *picking, struct error *error)
{
    struct seek_work *work = &picking->seek->work;
    uint64_t rows_most = HELD_PARTS * PART_ROWS * stream_threads(work->params);
    enum vdbq_status status = VDBQ_OK;

    while (picking->end < work->job_count && status == VDBQ_OK) {
        if (work->jobs[picking->end].found.count == 0) {
            picking->end++;
            continue;
        }
        status = hold_next(picking, error);
        if (status == VDBQ_OK && rows_held(picking) >= rows_most)
            status = pick_held(picking, error);
    }
    if (status == VDBQ_OK)
        return pick_held(picking, error);
    seek_release(work, work->jobs, work->job_count);
    return status;
}

/* ----------------------------------------------------------------- room -- */

/* Bytes of a row in memory, with its number among those that were found. */
static uint64_t row_bytes(const struct seek_stream *seek)
{
    const struct row_set *rows = &seek->picked.rows;
    uint64_t bytes = sizeof(uint32_t);

    for (unsigned i = 0; i < rows->column_count; i++)
        bytes +=
            rows->columns[i].width + 1
            + (rows->columns[i].type == VDBQ_TEXT ? sizeof(struct vdbq_text)
                                                  : 0);
    return bytes;
}

/* Room for the rows of all jobs, each at its place. */
static enum vdbq_status make_room(struct seek_stream *seek, struct error *error)
{
    struct seek_work *work = &seek->work;
    uint64_t rows = 0;

    for (size_t i = 0; i < work->job_count; i++) {
        work->jobs[i].to = rows;
        rows += work->jobs[i].found.count;
    }
    account_take_anyway(&seek->head.memory, rows * row_bytes(seek));
    if (picked_room(&seek->picked, rows, error) != VDBQ_OK)
        return error->status;
    seek->picked.rows.rows = rows;
    return VDBQ_OK;
}

/* Texts, which were not known before, and their words. */
static void count_texts(struct seek_stream *seek)
{
    account_take_anyway(&seek->head.memory,
                        2 * picked_text_bytes(&seek->picked));
}

/* ----------------------------------------------------------------- where -- */

/* Adds text to `where`, as much as there is room for. */
static void add_text(struct seek_stream *seek, const char *text)
{
    size_t length = strlen(seek->where), most = sizeof seek->where - 1 - length;
    size_t added = strlen(text);

    if (added > most)
        added = most;
    memcpy(seek->where + length, text, added);
    seek->where[length + added] = '\0';
}

static void add_number(struct seek_stream *seek, uint64_t number)
{
    char digits[NUMBER_BYTES + 1];

    digits[text_from_digits(number, 1, ' ', digits)] = '\0';
    add_text(seek, digits);
}

/* By hand: printf() would take as long as the search for one key. */
static void add_where(struct seek_stream *seek,
                      const struct seek_searches *searches,
                      const char *algorithm, const char *device)
{
    if (searches->runs == 0)
        return;
    if (seek->where[0] != '\0')
        add_text(seek, ", ");
    add_text(seek, algorithm);
    add_text(seek, " search on ");
    add_text(seek, device);
    add_text(seek, " (keys: ");
    add_number(seek, searches->keys);
    add_text(seek, ", runs: ");
    add_number(seek, searches->runs);
    add_text(seek, ")");
}

/* Says which searches ran where; an execution like the one before says the same. */
static void tell_where(struct seek_stream *seek)
{
    const struct seek_work *work = &seek->work;

    if (work->there.runs == 0 && work->here.runs == seek->told.runs
        && work->here.keys == seek->told.keys)
        return;
    seek->where[0] = '\0';
    seek->told = work->there.runs == 0
                     ? work->here
                     : (struct seek_searches){ .runs = UINT64_MAX };
    if (work->there.runs > 0)
        add_where(seek, &work->there, search_name(work->algorithm),
                  device_facts(work->place.device)->name);
    add_where(seek, &work->here, "binary", "host");
}

/* ----------------------------------------------------------------- open -- */

/* Which columns of tablets are read. */
static void list_columns(struct seek_stream *seek)
{
    const struct vector *columns = &step_of(seek)->columns;

    seek->column_count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        unsigned column = (unsigned)VECTOR_ITEMS(columns, int)[i];
        if (column < seek->work.terms.table->column_count)
            seek->columns[seek->column_count++] = column;
    }
}

/* Frees what was needed to find the rows that are there now. */
static void finish_reading(struct seek_stream *seek)
{
    for (unsigned i = 0; i < SEEK_KEYS_MAX; i++) {
        memory_release(seek->made[i]);
        seek->made[i] = NULL;
    }
    for (unsigned i = 0; i < SEEK_FROM_MAX; i++) {
        memory_release(seek->words[i]);
        seek->words[i] = NULL;
    }
    row_set_finish(&seek->input);
    seek->input = (struct row_set){ .rows = 0 };
    seek_work_end(&seek->work);
}

static enum vdbq_status pick(struct seek_stream *seek, struct error *error)
{
    struct picking picking = { .seek = seek };
    enum vdbq_status status = make_room(seek, error);

    if (status == VDBQ_OK)
        status = pick_all(&picking, error);
    if (status != VDBQ_OK)
        return status;
    count_texts(seek);
    return picked_end(&seek->picked, seek->picked.rows.rows, seek->head.texts,
                      stream_threads(seek->work.params), error);
}

/* The texts of a column's words. */
static bool take_words(struct seek_stream *seek, unsigned i,
                       const struct row_set_column *column)
{
    uint64_t rows = seek->input.rows;
    struct vdbq_text *texts = memory_zeroed(rows + 1, sizeof *texts);

    for (uint64_t k = 0; texts != NULL && k < rows; k++)
        if (!row_set_is_null(column, k))
            texts[k] = dictionary_text(column->dictionary,
                                       ((const uint32_t *)column->values)[k]);
    seek->words[i] = texts;
    seek->fed[i].values = texts;
    return texts != NULL;
}

/* A column of the values that rows of the input look for. */
static bool take_column(struct seek_stream *seek, unsigned i)
{
    const struct row_set_column *column =
        &seek->input.columns[step_of(seek)->from[i]];

    seek->fed[i] = (struct vdbq_vector){ .type = column->type,
                                         .values = column->values,
                                         .nulls = column->nulls };
    return column->type != VDBQ_TEXT || take_words(seek, i, column);
}

/* The step's list, with what its parameters are. */
static bool take_given(struct seek_stream *seek)
{
    const struct step_seek *step = step_of(seek);
    bool done = true;

    for (unsigned i = 0; i < step->list_columns && done; i++)
        done = seek_given_column(step, i, seek->head.params->parameters,
                                 &seek->list[i], &seek->made[i]);
    return done;
}

/* The input's rows. */
static enum vdbq_status take_input(struct seek_stream *seek,
                                   struct error *error)
{
    enum vdbq_status status =
        stream_materialise_some(&seek->head, &seek->input, error);
    bool done = true;

    if (status != VDBQ_OK)
        return status;
    stream_close_input(&seek->head, 0);
    for (unsigned i = 0; i < step_of(seek)->from_count && done; i++)
        done = take_column(seek, i);
    return done ? VDBQ_OK : error_no_memory(error);
}

/* The values that are looked for. */
static enum vdbq_status take_values(struct seek_stream *seek,
                                    struct error *error)
{
    const struct step_seek *step = step_of(seek);
    struct seek_terms *terms = &seek->work.terms;
    enum vdbq_status status = VDBQ_OK;

    if (seek->head.step->inputs.count > 0)
        status = take_input(seek, error);
    if (status == VDBQ_OK && !step->list_fed && !take_given(seek))
        status = error_no_memory(error);
    terms->fed = seek->fed;
    terms->fed_rows = seek->input.rows;
    terms->list = step->list_fed ? seek->fed : seek->list;
    terms->list_rows = step->list_fed ? seek->input.rows : step->list_count;
    return status;
}

/* The index whose keys are looked for; NULL: it is of columns. A catalogue that
 * changed has the query planned anew. */
static const struct index *index_of(const struct seek_stream *seek)
{
    uint64_t origin = step_of(seek)->origin;

    return origin != 0 ? catalogue_index_of(
               seek->head.params->snapshot->catalogue, origin)
                       : NULL;
}

static enum vdbq_status read_rows(struct seek_stream *seek,
                                  const struct table *table,
                                  struct error *error)
{
    const struct stream_params *params = seek->head.params;
    struct seek_work *work = &seek->work;
    enum vdbq_status status;

    assert(step_of(seek)->origin == 0 || index_of(seek) != NULL);
    *work = (struct seek_work){
        .params = params,
        .terms = { .step = step_of(seek),
                   .table = table,
                   .index = index_of(seek) },
        .jobs = work->jobs,
        .job_room = work->job_room,
        .rows = seek->head.step->rows,
    };
    list_columns(seek);
    status = take_values(seek, error);
    if (status == VDBQ_OK)
        status = seek_terms_init(&work->terms, params, error);
    if (status == VDBQ_OK)
        status = params->choose(params->choose_context, table, NULL,
                                table->rows, &work->place, error);
    if (status == VDBQ_OK && !work->terms.none)
        status = seek_find(work, error);
    tell_where(seek);
    return status == VDBQ_OK ? pick(seek, error) : status;
}

/* Opens a seek that has room for its rows, and none. */
static enum vdbq_status seek_again(struct stream *stream, struct error *error)
{
    struct seek_stream *seek = (struct seek_stream *)stream;
    const struct table *table = catalogue_table_id(
        stream->params->snapshot->catalogue, step_of(seek)->table);
    enum vdbq_status status;

    assert(table != NULL); /* a catalogue that changed has it replanned */
    assert(seek->picked.rows.rows == 0);
    seek->picked.table = table;
    seek->given = 0;
    status = read_rows(seek, table, error);
    finish_reading(seek);
    stream->rows_most = seek->picked.rows.rows;
    return status;
}

static enum vdbq_status seek_open(struct stream *stream, struct error *error)
{
    struct seek_stream *seek = (struct seek_stream *)stream;
    const struct vector *columns = &step_of(seek)->columns;
    enum vdbq_status status =
        picked_init(&seek->picked, NULL, columns, stream->step->columns, error);

    seek->vectors =
        memory_zeroed(stream->step->column_count, sizeof *seek->vectors);
    seek->columns = memory_zeroed(columns->count + 1, sizeof *seek->columns);
    if (status == VDBQ_OK && (seek->vectors == NULL || seek->columns == NULL))
        status = error_no_memory(error);
    return status == VDBQ_OK ? seek_again(stream, error) : status;
}

static bool seek_rest(struct stream *stream)
{
    struct seek_stream *seek = (struct seek_stream *)stream;

    if (stream->step->inputs.count > 0
        || seek->picked.rows.rows_room > REST_ROWS)
        return false;
    picked_empty(&seek->picked);
    return true;
}

static void seek_close(struct stream *stream)
{
    struct seek_stream *seek = (struct seek_stream *)stream;

    finish_reading(seek);
    seek_work_finish(&seek->work);
    picked_finish(&seek->picked);
    memory_release(seek->columns);
    memory_release(seek->vectors);
    account_give_all(&stream->memory);
}

/* ----------------------------------------------------------------- rows -- */

static enum vdbq_status
seek_batch(struct stream *stream, struct vdbq_batch *batch, struct error *error)
{
    struct seek_stream *seek = (struct seek_stream *)stream;

    (void)error;
    rescan_rows(&seek->picked.rows, &seek->given, seek->vectors, batch);
    return VDBQ_OK;
}

static struct dictionary *seek_dictionary(const struct stream *stream,
                                          unsigned column)
{
    const struct seek_stream *seek = (const struct seek_stream *)stream;

    return seek->picked.rows.columns[column].dictionary;
}

static void seek_stats(const struct stream *stream, struct vdbq_stats *stats)
{
    const struct seek_stream *seek = (const struct seek_stream *)stream;

    stats->load_ns += seek->work.load_ns;
    stats->steps = seek->where;
    stream_add_times(&seek->work.times, stats);
}

const struct stream_kind seek_stream = {
    .size = sizeof(struct seek_stream),
    .calls = { .batch = seek_batch,
               .stays = stream_stays,
               .dictionary = seek_dictionary,
               .stats = seek_stats,
               .rest = seek_rest,
               .again = seek_again,
               .close = seek_close },
    .open = seek_open,
};
