/* SPDX-License-Identifier: MIT */
/*
 * Part files of a connection's database: data/parts/parts_make.h.
 */
#include "api/session.h"
#include "cluster/vdbq_cluster.h"
#include "data/file/part_files.h"
#include "base/memory.h"
#include "data/parts/parts_make.h"

static enum vdbq_status distribute(vdbq *db, const struct parts_params *params)
{
    if (db->transaction != NULL || db->append != NULL)
        return error_set(&db->error, VDBQ_MISUSE, "%s",
                         "part files are not made inside a transaction");
    return parts_make(params, &db->error);
}

/* The tables as the floor of data has them; NULL: no memory. */
static struct parts_table *take_tables(const struct vdbq_part_table *tables,
                                       unsigned count)
{
    struct parts_table *taken = memory_zeroed((size_t)count + 1, sizeof *taken);
    for (unsigned i = 0; taken != NULL && i < count; i++)
        taken[i] = (struct parts_table){ tables[i].name, tables[i].keys,
                                         tables[i].key_count };
    return taken;
}

/* Whether a program may pass them. */
static bool all_named(const struct vdbq_part_table *tables, unsigned count)
{
    bool named = tables != NULL || count == 0;
    for (unsigned i = 0; named && i < count; i++) {
        named = tables[i].name != NULL
                && (tables[i].keys != NULL || tables[i].key_count == 0);
        for (unsigned j = 0; named && j < tables[i].key_count; j++)
            named = tables[i].keys[j] != NULL;
    }
    return named;
}

enum vdbq_status vdbq_cluster_distribute(vdbq *db, const char *folder,
                                         unsigned parts,
                                         const struct vdbq_part_table *tables,
                                         unsigned table_count)
{
    if (folder == NULL || parts == 0 || parts > PARTS_MAX
        || !all_named(tables, table_count))
        return session_misuse(db, "a folder and 1 to 4096 parts");
    struct parts_table *taken = take_tables(tables, table_count);
    enum vdbq_status status = session_begin(db);
    if (db == NULL) {
        memory_release(taken);
        return status;
    }
    struct stop_work former = stop_enter(&db->stop);
    session_hear_cancel(db);
    if (status == VDBQ_OK && taken == NULL)
        status = error_no_memory(&db->error);
    if (status == VDBQ_OK)
        status =
            distribute(db, &(struct parts_params){ db->database, folder, parts,
                                                   taken, table_count });
    memory_release(taken);
    status = session_ended_by(db, status);
    stop_leave(former);
    return session_report(db, status, NULL, 0);
}

const char *vdbq_cluster_parts(vdbq *db, unsigned table)
{
    const struct catalogue *schema = db != NULL ? db->schema : NULL;
    if (schema == NULL || table >= schema->table_count
        || schema->tables[table].parts == NULL)
        return "";
    const struct table_parts *parts = schema->tables[table].parts;
    struct text *text = &db->schema_text;
    const char *left = table_parts_left(&schema->tables[table]);
    text_finish(text);
    if (left != NULL) /* and its columns may be others now */
        text_print(text, "by hash in %u parts, but %s", parts->parts, left);
    for (unsigned i = 0; left == NULL && i < parts->key_count; i++) {
        text_print(text, "%s", i > 0 ? ", " : "by hash (");
        name_sql(schema->tables[table].columns[parts->keys[i]].name, text);
    }
    if (left == NULL)
        text_print(text,
                   parts->key_count > 0 ? ") in %u parts"
                                        : "whole in each of %u parts",
                   parts->parts);
    return text->bytes != NULL && !text->failed ? text->bytes : "";
}
