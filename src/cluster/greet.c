/* SPDX-License-Identifier: MIT */
/*
 * Greetings of ranks: see greet.h.
 */
#include "cluster/greet.h"

#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "device/several.h"

/* --------------------------------------------------------------- hello -- */

/* The machine code of a program or a library, from part `*part` on; NULL: there is
 * no more. */
static const ElfW(Phdr)
    * next_code(const struct dl_phdr_info *of, unsigned *part)
{
    while (*part < of->dlpi_phnum) {
        const ElfW(Phdr) *code = &of->dlpi_phdr[(*part)++];
        if (code->p_type == PT_LOAD && (code->p_flags & PF_X) != 0)
            return code;
    }
    return NULL;
}

/* Hashes the code of the one that this function is in. */
static int hash_code(struct dl_phdr_info *of, size_t size, void *hash)
{
    const uintptr_t here = (uintptr_t)hash_code;
    const ElfW(Phdr) * code;
    unsigned part = 0;
    uint64_t *build = hash;
    (void)size;
    while ((code = next_code(of, &part)) != NULL
           && here - (of->dlpi_addr + code->p_vaddr) >= code->p_memsz)
        continue;
    if (code == NULL)
        return 0;
    for (part = 0; (code = next_code(of, &part)) != NULL;)
        *build =
            XXH3_64bits_withSeed((const void *)(of->dlpi_addr + code->p_vaddr),
                                 code->p_memsz, *build);
    return 1;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t build_of_this;

static void find_build(void)
{
    dl_iterate_phdr(hash_code, &build_of_this);
}

struct hello hello_of_this(void)
{
    struct hello hello = { .build = 0 };
    pthread_once(&once, find_build);
    hello.build = build_of_this;
    snprintf(hello.version, sizeof hello.version, "%s", vdbq_version());
    return hello;
}

bool hello_is_ours(const void *bytes, size_t size)
{
    struct hello own = hello_of_this(), other;
    if (size < sizeof other)
        return false;
    memcpy(&other, bytes, sizeof other);
    return own.build == other.build
           && memcmp(own.version, other.version, sizeof own.version) == 0;
}

/* ---------------------------------------------------------------- sees -- */

enum vdbq_status greet_device(vdbq *db, char *name)
{
    const struct settings *settings = &db->options.settings;
    struct run_place place;
    name[0] = '\0';
    if (settings->device[0] == '\0'
        || device_choice_is_several(settings->device))
        return VDBQ_OK;
    enum vdbq_status status =
        place_choose(db, settings, NULL, NULL, UINT64_MAX, &place);
    if (status == VDBQ_OK)
        snprintf(name, DEVICE_BYTES_MAX, "%s",
                 device_facts(place.device)->name);
    return status;
}

static void add(struct text *sees, const char *name)
{
    text_add(sees, name, strlen(name) + 1);
}

void greet_sees(vdbq *db, struct text *sees)
{
    uint64_t number;
    char name[DEVICE_BYTES_MAX];
    const unsigned parts = database_parts(db->database, &number);
    snprintf(name, sizeof name, "the part files of %016" PRIx64, number);
    if (parts > 0)
        add(sees, name);
    unsigned tables = vdbq_tables(db);
    for (unsigned i = 0; i < tables; i++)
        add(sees, vdbq_table_sql(db, i));
    for (unsigned i = 0; i < vdbq_views(db); i++)
        add(sees, vdbq_view_sql(db, i));
}

bool welcome_is_whole(const void *bytes, size_t size)
{
    const char *sees = (const char *)bytes + sizeof(struct welcome);
    return size >= sizeof(struct welcome)
           && (size == sizeof(struct welcome)
               || sees[size - sizeof(struct welcome) - 1] == '\0');
}

/* The next text of a sight; NULL: there is none. */
static const char *next_of(struct sight *sight)
{
    const char *text = sight->bytes;
    if (sight->size == 0)
        return NULL;
    sight->bytes += strlen(text) + 1;
    sight->size -= strlen(text) + 1;
    return text;
}

bool greet_differ(struct sight here, struct sight there, const char **one,
                  const char **other)
{
    do {
        *one = next_of(&here);
        *other = next_of(&there);
    } while (*one != NULL && *other != NULL && strcmp(*one, *other) == 0);
    return *one != NULL || *other != NULL;
}
