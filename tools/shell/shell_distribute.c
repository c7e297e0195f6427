/* SPDX-License-Identifier: MIT */
/*
 * .distribute: makes part files of the database, which ranks open. Behind the folder
 * and the number of parts come tables:
 *
 *     TABLE                        is whole in each part
 *     TABLE BROADCAST              likewise
 *     TABLE BY HASH (COLUMN, ...)  its rows go where the hash of the columns says
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <vdbq_cluster.h>

#include "shell_command.h"
#include "shell.h"

enum {
    TABLES_MOST = 256,    /* as many words as a command has */
    KEYS_MOST = 256,      /* of all tables                  */
    KEYS_BYTES_MAX = 8192 /* ... and their names            */
};

/* Words that are read. */
struct reading {
    const struct shell_call *call;
    unsigned at; /* the next one */
    struct vdbq_part_table tables[TABLES_MOST];
    unsigned table_count;
    const char *keys[KEYS_MOST];
    unsigned key_count;
    char names[KEYS_BYTES_MAX]; /* of keys */
    size_t names_used;
};

/* Whether the next word is that one, which is taken then. */
static bool take(struct reading *reading, const char *word)
{
    const struct shell_call *call = reading->call;
    if (reading->at == call->count
        || strcasecmp(call->argument[reading->at], word) != 0)
        return false;
    reading->at++;
    return true;
}

/* Takes "hash", behind which a bracket may begin without a blank. */
static bool take_hash(struct reading *reading)
{
    char **word = &reading->call->argument[reading->at];
    const size_t length = strlen("hash");
    if (reading->at == reading->call->count
        || strncasecmp(*word, "hash(", length + 1) != 0)
        return take(reading, "hash");
    *word += length;
    return true;
}

/* Puts words up to one that ends with a bracket side by side. NULL: there is none, or
 * no room. */
static char *take_brackets(struct reading *reading)
{
    const struct shell_call *call = reading->call;
    char *list = reading->names + reading->names_used;
    for (size_t used = 0; reading->at < call->count;) {
        const char *word = call->argument[reading->at++];
        const size_t length = strlen(word);
        if (reading->names_used + used + length + 2 > KEYS_BYTES_MAX)
            return NULL;
        if (used > 0)
            list[used++] = ' ';
        memcpy(list + used, word, length + 1);
        used += length;
        if (used > 1 && list[0] == '(' && list[used - 1] == ')') {
            list[used - 1] = '\0';
            reading->names_used += used;
            return list + 1;
        }
    }
    return NULL;
}

/* A name without blanks around it. */
static char *trim(char *name)
{
    name += strspn(name, " ");
    for (size_t length = strlen(name); length > 0 && name[length - 1] == ' ';)
        name[--length] = '\0';
    return name;
}

/* Takes the columns of a table by hash; false: there are none. */
static bool take_keys(struct reading *reading, struct vdbq_part_table *table)
{
    char *list = take_brackets(reading);
    table->keys = reading->keys + reading->key_count;
    while (list != NULL && reading->key_count < KEYS_MOST) {
        char *comma = strchr(list, ',');
        if (comma != NULL)
            *comma = '\0';
        const char *name = trim(list);
        if (*name == '\0')
            return false;
        reading->keys[reading->key_count++] = name;
        table->key_count++;
        if (comma == NULL)
            return true;
        list = comma + 1;
    }
    return false;
}

/* Takes all tables; false: these are no such words. */
static bool take_tables(struct reading *reading)
{
    while (reading->at < reading->call->count) {
        struct vdbq_part_table *table =
            &reading->tables[reading->table_count++];
        table->name = reading->call->argument[reading->at++];
        if (take(reading, "by")
            && (!take_hash(reading) || !take_keys(reading, table)))
            return false;
        if (table->key_count == 0)
            take(reading, "broadcast");
    }
    return true;
}

bool shell_distribute(struct shell *shell, const struct shell_call *call)
{
    char *end;
    struct reading reading = { .call = call, .at = 2 };
    const unsigned long parts = strtoul(call->argument[1], &end, 10);
    if (*end != '\0' || parts == 0 || parts > UINT_MAX
        || !take_tables(&reading))
        return shell_usage(shell, call);
    if (vdbq_cluster_distribute(shell->db, call->argument[0], (unsigned)parts,
                                reading.tables, reading.table_count)
        == VDBQ_OK)
        return true;
    return shell_fail_db(shell, call->place);
}
