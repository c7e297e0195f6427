/* SPDX-License-Identifier: MIT */
/*
 * Names: names.h.
 */
#include "api/keys/names.h"

enum vdbq_status names_table(vdbq *db, const char *name,
                             struct snapshot *snapshot,
                             const struct table **table)
{
    enum vdbq_status status =
        session_snapshot(db, session_is_temporary(db, name), snapshot);

    if (status != VDBQ_OK)
        return status;
    *table = catalogue_table(snapshot->catalogue, name);
    if (*table != NULL)
        return VDBQ_OK;
    snapshot_close(snapshot);
    return error_set(&db->error, VDBQ_UNKNOWN, "there is no table %s", name);
}

enum vdbq_status names_column(vdbq *db, const struct table *table,
                              const char *name, const struct column **column)
{
    unsigned number = table_column(table, name);

    if (number == table->column_count)
        return error_set(&db->error, VDBQ_UNKNOWN, "table %s has no column %s",
                         table->name, name);
    *column = &table->columns[number];
    return VDBQ_OK;
}
