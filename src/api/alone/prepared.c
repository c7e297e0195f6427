/* SPDX-License-Identifier: MIT */
/*
 * Statements with names: see prepared.h. There are few, in the order in which
 * they came.
 */
#include "api/alone/prepared.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

char *prepared_text(const char *sql, size_t begin, size_t end)
{
    char *text = memory_zeroed(end + 1, 1);
    if (text == NULL)
        return NULL;
    assert(begin <= end);
    memcpy(text, sql, end);
    for (size_t i = 0; i < begin; i++)
        if (text[i] != '\n')
            text[i] = ' ';
    return text;
}

const struct prepared *prepared_find(const struct prepared *list,
                                     const char *name)
{
    while (list != NULL && !name_equal(list->name, name))
        list = list->next;
    return list;
}

static void release(struct prepared *prepared)
{
    memory_release(prepared->name);
    memory_release(prepared->text);
    memory_release(prepared);
}

bool prepared_remove(struct prepared **list, const char *name)
{
    while (*list != NULL && !name_equal((*list)->name, name))
        list = &(*list)->next;
    struct prepared *found = *list;
    if (found == NULL)
        return false;
    *list = found->next;
    release(found);
    return true;
}

enum vdbq_status prepared_add(struct prepared **list, const char *name,
                              char *text, size_t length, struct error *error)
{
    struct prepared *made = memory_zeroed(1, sizeof *made);
    char *copy = memory_zeroed(strlen(name) + 1, 1);
    if (made == NULL || copy == NULL) {
        memory_release(made);
        memory_release(copy);
        return error_no_memory(error);
    }
    strcpy(copy, name);
    prepared_remove(list, name);
    *made = (struct prepared){
        .next = *list, .name = copy, .text = text, .length = length
    };
    *list = made;
    return VDBQ_OK;
}

void prepared_finish(struct prepared **list)
{
    while (*list != NULL) {
        struct prepared *first = *list;
        *list = first->next;
        release(first);
    }
}
