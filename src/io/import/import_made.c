/* SPDX-License-Identifier: MIT */
/*
 * A table that the import makes. It is made and filled in one transaction, so
 * that others see it with its rows or not at all, whenever the process ends:
 * in the one that the connection has open, or else in one of its own.
 */
#include "io/import/import_inner.h"
#include "io/out.h"

void import_add_name(struct out *sql, const char *name)
{
    out_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"')
            out_char(sql, '"');
        out_char(sql, *name);
    }
    out_char(sql, '"');
}

enum vdbq_status import_make(struct import *import, const char *sql)
{
    vdbq *db = import->params->db;
    enum vdbq_status status = vdbq_execute(db, "BEGIN");
    import->own_transaction = status == VDBQ_OK;
    if (status == VDBQ_OK || status == VDBQ_MISUSE) /* one is open */
        status = vdbq_execute(db, sql);
    import->report->created = status == VDBQ_OK;
    return status == VDBQ_OK ? VDBQ_OK : import_fail_db(import);
}

enum vdbq_status import_keep(struct import *import)
{
    if (!import->own_transaction)
        return VDBQ_OK;
    if (vdbq_execute(import->params->db, "COMMIT") != VDBQ_OK)
        return import_fail_db(import);
    import->own_transaction = false;
    return VDBQ_OK;
}

/* Takes the table out of the connection's own transaction. */
static void drop(struct import *import)
{
    struct out sql;
    if (!out_open(&sql, -1))
        return;
    out_text(&sql, "DROP TABLE ");
    import_add_name(&sql, import->params->table);
    out_char(&sql, 0);
    vdbq_execute(import->params->db, sql.bytes);
    out_close(&sql);
}

void import_forget(struct import *import)
{
    if (import->own_transaction)
        vdbq_execute(import->params->db, "ROLLBACK");
    else if (import->report->created)
        drop(import);
    import->own_transaction = import->report->created = false;
}
