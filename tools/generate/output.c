/* SPDX-License-Identifier: MIT */
/*
 * Writing generated rows. Exit code 1: no memory; 3: a file or the database
 * refused. Relies on vdbq.h alone.
 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

static int complain(const vdbq *db)
{
    const struct vdbq_error *error = vdbq_error(db);
    fprintf(stderr, "generate: %s\n", error->message);
    if (error->hint && *error->hint)
        fprintf(stderr, "hint: %s\n", error->hint);
    return 3;
}

static int complain_file(const char *path)
{
    perror(path);
    return 3;
}

static int no_memory(void)
{
    fputs("generate: out of memory\n", stderr);
    return 1;
}

/* ---------------------------------------------------------------- open -- */

/* Writes the statement that makes the table. */
static void print_definition(const struct output_table *table, char *sql,
                             size_t size)
{
    const char *schema = table->schema ? table->schema : "";
    size_t used =
        (size_t)snprintf(sql, size, "create table %s %s", table->name, schema);
    for (unsigned i = 0; !table->schema && i < table->columns; i++)
        used += (size_t)snprintf(sql + used, size - used, "%s%s %s not null",
                                 i == 0 ? "(" : ", ", table->names[i],
                                 vdbq_type_name(table->types[i]));
    if (!table->schema)
        snprintf(sql + used, size - used, ")");
}

static int open_db(struct output *output)
{
    char sql[8192];
    const struct output_table *table = output->table;
    print_definition(table, sql, sizeof sql);
    if (vdbq_open(output->places->db, VDBQ_OPEN_CREATE, &output->db) != VDBQ_OK
        || vdbq_execute(output->db, sql) != VDBQ_OK
        || vdbq_append_open(output->db, table->name, &output->append)
               != VDBQ_OK)
        return complain(output->db);
    return 0;
}

static int open_csv(struct output *output)
{
    const char *path = output->places->csv;
    const struct output_table *table = output->table;
    output->csv = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (!output->csv)
        return complain_file(path);
    for (unsigned i = 0; i < table->columns; i++)
        fprintf(output->csv, "%s%c", table->names[i],
                i + 1 < table->columns ? ',' : '\n');
    return 0;
}

static int open_raw(struct output *output)
{
    char path[4096];
    for (unsigned i = 0; i < output->table->columns; i++) {
        snprintf(path, sizeof path, "%s/%s", output->places->raw,
                 output->table->names[i]);
        output->raw[i] = fopen(path, "wb");
        if (!output->raw[i])
            return complain_file(path);
    }
    return 0;
}

int output_open(struct output *output, const struct output_places *places,
                const struct output_table *table)
{
    *output = (struct output){ .table = table, .places = places };
    int status = places->db ? open_db(output) : 0;
    if (status == 0 && places->csv)
        status = open_csv(output);
    if (status == 0 && places->raw)
        status = open_raw(output);
    return status;
}

/* --------------------------------------------------------------- write -- */

int output_values(struct output *output, const struct output_batch *batch)
{
    for (unsigned i = 0; output->raw[0] && i < output->table->columns; i++)
        if (fwrite(batch->vectors[i].values, 4, batch->rows, output->raw[i])
            != batch->rows)
            return complain_file(output->places->raw);
    if (output->append
        && vdbq_append_rows(output->append, batch->rows, batch->vectors)
               != VDBQ_OK)
        return complain(output->db);
    return 0;
}

int output_csv(struct output *output, struct output_text *text)
{
    size_t size = text->size;
    text->size = 0;
    if (output->csv && fwrite(text->bytes, 1, size, output->csv) != size)
        return complain_file(output->places->csv);
    return 0;
}

int output_rows(struct output *output, const struct output_batch *batch)
{
    int status = output_values(output, batch);
    if (status != 0 || !output->csv)
        return status;
    if (!output_format(output->table, batch, &output->text))
        return no_memory();
    return output_csv(output, &output->text);
}

/* --------------------------------------------------------------- close -- */

static int close_db(struct output *output, int status)
{
    if (status == 0 && vdbq_append_commit(output->append) != VDBQ_OK)
        status = complain(output->db);
    vdbq_append_close(output->append);
    vdbq_close(output->db);
    return status;
}

static int close_csv(struct output *output, int status)
{
    bool bad = fflush(output->csv) != 0;
    if (output->csv != stdout)
        bad |= fclose(output->csv) != 0;
    return bad && status == 0 ? complain_file(output->places->csv) : status;
}

int output_close(struct output *output, int status)
{
    output_text_finish(&output->text);
    if (output->csv)
        status = close_csv(output, status);
    for (unsigned i = 0; i < output->table->columns; i++)
        if (output->raw[i] && fclose(output->raw[i]) != 0 && status == 0)
            status = complain_file(output->places->raw);
    return output->db ? close_db(output, status) : status;
}
