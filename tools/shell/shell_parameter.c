/* SPDX-License-Identifier: MIT */
/*
 * Values for parameters, by name or number: from -p and .parameter, given to
 * each statement before it runs.
 */
#include "shell.h"

#include "io/number.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Without the sign in front: name of :name, 3 of ?3. */
static const char *bare(const char *name)
{
    return *name == ':' || *name == '?' ? name + 1 : name;
}

static struct shell_parameter *find(struct shell *shell, const char *name)
{
    for (unsigned i = 0; i < shell->parameters; i++)
        if (strcmp(shell->parameter[i].name, bare(name)) == 0)
            return &shell->parameter[i];
    return NULL;
}

static bool fail_memory(struct shell *shell)
{
    return shell_fail(shell, NULL, VDBQ_NO_MEMORY, "", "out of memory");
}

bool shell_parameter_set(struct shell *shell, const char *name,
                         const char *value)
{
    struct shell_parameter *found = find(shell, name);
    char *copy = strdup(value);
    if (copy && !found) {
        size_t count = shell->parameters + (size_t)1;
        struct shell_parameter *more =
            realloc(shell->parameter, count * sizeof *more);
        shell->parameter = more ? more : shell->parameter;
        char *key = more ? strdup(bare(name)) : NULL;
        if (key) {
            found = &more[shell->parameters++];
            *found = (struct shell_parameter){ .name = key };
        }
    }
    if (!copy || !found) {
        free(copy);
        return fail_memory(shell);
    }
    free(found->value);
    found->value = copy;
    return true;
}

bool shell_parameter_unset(struct shell *shell, const char *name)
{
    struct shell_parameter *found = find(shell, name);
    if (!found)
        return false;
    free(found->name);
    free(found->value);
    *found = shell->parameter[--shell->parameters];
    return true;
}

void shell_parameters_clear(struct shell *shell)
{
    while (shell->parameters)
        shell_parameter_unset(shell, shell->parameter[0].name);
    free(shell->parameter);
    shell->parameter = NULL;
}

void shell_parameters_list(struct shell *shell)
{
    for (unsigned i = 0; i < shell->parameters; i++) {
        const char *name = shell->parameter[i].name;
        out_print(&shell->out, "%c%s %s\n",
                  isdigit((unsigned char)*name) ? '?' : ':', name,
                  shell->parameter[i].value);
    }
}

bool shell_parameter_option(struct shell *shell, const char *option,
                            unsigned *number)
{
    const char *at = bare(option);
    char name[256];
    while (isalnum((unsigned char)*at) || *at == '_')
        at++;
    size_t length = (size_t)(at - option);
    if (*at == '=' && length > 0 && length < sizeof name
        && (!isdigit((unsigned char)*option))) {
        snprintf(name, sizeof name, "%.*s", (int)length, option);
        return shell_parameter_set(shell, name, at + 1);
    }
    snprintf(name, sizeof name, "%u", ++*number);
    return shell_parameter_set(shell, name, option);
}

/* ------------------------------------------------------------ statements -- */

/* A text in single quotes, those inside written twice. */
static enum vdbq_status bind_quoted(vdbq_query *query, unsigned number,
                                    const char *value, size_t length)
{
    char *text = malloc(length + 1);
    size_t used = 0;
    if (!text)
        return VDBQ_NO_MEMORY;
    for (size_t i = 1; i + 1 < length; i++) {
        text[used++] = value[i];
        i += value[i] == '\'' && value[i + 1] == '\'' && i + 2 < length;
    }
    enum vdbq_status status =
        vdbq_bind_text(query, number, text, (ptrdiff_t)used);
    free(text);
    return status;
}

static enum vdbq_status bind(vdbq_query *query, unsigned number,
                             const char *value)
{
    size_t length = strlen(value);
    int64_t whole;
    double real;
    if (strcasecmp(value, "null") == 0)
        return vdbq_bind_null(query, number);
    if (length > 1 && *value == '\'' && value[length - 1] == '\'')
        return bind_quoted(query, number, value, length);
    if (number_to_int64(value, length, &whole) == NUMBER_OK)
        return vdbq_bind_int64(query, number, whole);
    if (number_to_double(value, length, &real) == NUMBER_OK)
        return vdbq_bind_double(query, number, real);
    return vdbq_bind_text(query, number, value, (ptrdiff_t)length);
}

enum vdbq_status shell_parameters_bind(struct shell *shell, vdbq_query *query)
{
    unsigned count = vdbq_query_parameters(query);
    enum vdbq_status status = VDBQ_OK;
    for (unsigned i = 1; i <= count && status == VDBQ_OK; i++) {
        const char *name = vdbq_query_parameter_name(query, i);
        char number[16];
        snprintf(number, sizeof number, "%u", i);
        const struct shell_parameter *found =
            find(shell, *name ? name : number);
        if (found)
            status = bind(query, i, found->value);
    }
    return status;
}
