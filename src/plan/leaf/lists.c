/* SPDX-License-Identifier: MIT */
#include "plan/leaf/lists.h"

#include <stddef.h>

#include "base/text.h"
#include "plan/leaf/list_indexes.h"
#include "plan/leaf/list_tables.h"
#include "plan/leaf/listing.h"

/* There are no foreign keys. */
static void list_nothing(struct listing *listing)
{
    (void)listing;
}

/* What the name of each begins with, but where PRAGMA asks. */
enum { PREFIX_BYTES = sizeof "pragma_" - 1 };

static const struct listed pragmas[] = {
    { "pragma_table_info",
      true,
      list_table_info,
      "ittiti",
      { "cid", "name", "type", "notnull", "dflt_value", "pk" } },
    { "pragma_table_xinfo",
      true,
      list_table_xinfo,
      "ittitii",
      { "cid", "name", "type", "notnull", "dflt_value", "pk", "hidden" } },
    { "pragma_table_list",
      false,
      list_table_list,
      "tttiii",
      { "schema", "name", "type", "ncol", "wr", "strict" } },
    { "pragma_index_list",
      true,
      list_index_list,
      "ititi",
      { "seq", "name", "unique", "origin", "partial" } },
    { "pragma_index_info",
      true,
      list_index_info,
      "iit",
      { "seqno", "cid", "name" } },
    { "pragma_index_xinfo",
      true,
      list_index_xinfo,
      "iititi",
      { "seqno", "cid", "name", "desc", "coll", "key" } },
    { "pragma_tables", false, list_names, "t", { "name" } },
    { "pragma_foreign_key_list",
      true,
      list_nothing,
      "iitttttt",
      { "id", "seq", "table", "from", "to", "on_update", "on_delete",
        "match" } },
};

static const struct listed masters[] = {
    { "sqlite_master",
      false,
      list_master,
      "tttit",
      { "type", "name", "tbl_name", "rootpage", "sql" } },
    { "sqlite_schema",
      false,
      list_master,
      "tttit",
      { "type", "name", "tbl_name", "rootpage", "sql" } },
    { "sqlite_temp_master",
      false,
      list_temporary,
      "tttit",
      { "type", "name", "tbl_name", "rootpage", "sql" } },
    { "sqlite_temp_schema",
      false,
      list_temporary,
      "tttit",
      { "type", "name", "tbl_name", "rootpage", "sql" } },
};

static const struct listed information[] = {
    { "tables",
      false,
      list_information_tables,
      "ttttt",
      { "table_catalog", "table_schema", "table_name", "table_type",
        "is_insertable_into" } },
    { "columns",
      false,
      list_information_columns,
      "ttttitttiii",
      { "table_catalog", "table_schema", "table_name", "column_name",
        "ordinal_position", "column_default", "is_nullable", "data_type",
        "numeric_precision", "numeric_precision_radix", "numeric_scale" } },
};

static const struct listed *find(const struct listed *lists, size_t count,
                                 const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (name_equal(lists[i].name, name))
            return &lists[i];
    return NULL;
}

const struct listed *lists_pragma(const char *name)
{
    for (size_t i = 0; i < sizeof pragmas / sizeof *pragmas; i++)
        if (name_equal(pragmas[i].name + PREFIX_BYTES, name))
            return &pragmas[i];
    return NULL;
}

const struct listed *lists_function(const char *name)
{
    return find(pragmas, sizeof pragmas / sizeof *pragmas, name);
}

bool schema_is_main(const char *schema)
{
    return schema == NULL || name_equal(schema, "main");
}

const struct listed *lists_table(const char *schema, const char *name)
{
    if (schema_is_main(schema))
        return find(masters, sizeof masters / sizeof *masters, name);
    if (name_equal(schema, "temp")
        && (name_equal(name, "sqlite_master")
            || name_equal(name, "sqlite_schema")))
        return lists_table(NULL, "sqlite_temp_master");
    return name_equal(schema, "information_schema") ? find(
               information, sizeof information / sizeof *information, name)
                                                    : NULL;
}
