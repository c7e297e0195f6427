/* SPDX-License-Identifier: MIT */
/*
 * Options: the settings of a connection, set and told as texts. The table of
 * what there is lies in base/settings.c. And how a database is opened with them.
 */
#include <stdlib.h>
#include <string.h>

#include "api/query.h"
#include "data/file/part_files.h"

static enum vdbq_status set(vdbq *db, unsigned number, const char *value)
{
    struct options *options = &db->options;
    enum vdbq_status status =
        setting_read(setting_at(number), value, &options->settings, &db->error);
    if (status == VDBQ_OK)
        strcpy(options->texts[number], value);
    return status;
}

enum vdbq_status options_init(vdbq *db)
{
    enum vdbq_status status = VDBQ_OK;
    const struct setting *setting;
    db->options.settings = settings_default();
    for (unsigned i = 0; (setting = setting_at(i)) != NULL; i++)
        strcpy(db->options.texts[i], setting->option.value);
    for (unsigned i = 0; (setting = setting_at(i)) && status == VDBQ_OK; i++) {
        const char *value = getenv(setting->option.variable);
        if (value != NULL && value[0] != '\0')
            status = set(db, i, value);
    }
    return status;
}

enum vdbq_status vdbq_set(vdbq *db, const char *option, const char *value)
{
    if (option == NULL || value == NULL)
        return session_misuse(db, option ? "the value" : "the option's name");
    if (db == NULL)
        return VDBQ_MISUSE;
    error_clear(&db->error);
    unsigned number = setting_find(option);
    enum vdbq_status status;
    if (setting_at(number) == NULL)
        status =
            error_set(&db->error, VDBQ_UNKNOWN, "no option \"%s\"", option);
    else
        status = set(db, number, value);
    for (vdbq_query *query = db->queries; query != NULL; query = query->next)
        query->replan = true; /* plans keep to limits that options set */
    return session_report(db, status, NULL, 0);
}

const struct vdbq_option *vdbq_option(unsigned number)
{
    const struct setting *setting = setting_at(number);
    return setting != NULL ? &setting->option : NULL;
}

const char *vdbq_get(vdbq *db, const char *option)
{
    unsigned number = db && option ? setting_find(option) : SETTINGS_MAX;
    return number < SETTINGS_MAX ? db->options.texts[number] : NULL;
}

/* ------------------------------------------------------- of a database -- */

/* What the data floor knows of SQL; a default_parser. */
static enum vdbq_status parse_default(const char *sql, struct arena *arena,
                                      const struct ast_expression **tree,
                                      struct error *error)
{
    return sql_parse_expression(sql, strlen(sql), arena, tree, error);
}

struct database_params session_params(vdbq *db, const char *path,
                                      unsigned flags)
{
    bool in_memory =
        path == NULL || path[0] == '\0' || strcmp(path, ":memory:") == 0;
    const bool parts = !in_memory && part_folder(path);
    const unsigned opened = parts ? flags & ~(unsigned)VDBQ_OPEN_CREATE : flags;
    return (struct database_params){
        .path = in_memory ? ":memory:" : path,
        .flags = in_memory ? flags | VDBQ_OPEN_CREATE : opened,
        .files = in_memory ? &os_memory_files
                 : parts   ? &part_files
                           : &os_files,
        .settings = &db->options.settings,
        .parse_default = parse_default,
    };
}
