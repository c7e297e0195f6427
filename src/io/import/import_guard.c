/* SPDX-License-Identifier: MIT */
/*
 * A mapped file that another program cuts meanwhile: its last pages are gone,
 * and who reads them gets SIGBUS. While a file is guarded such a page is
 * replaced by one of zeros, and the import is told. One file at a time, of
 * whichever thread came first; others are not guarded.
 */
#include "io/import/import_inner.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    atomic_bool taken;
    const char *start, *end;
    uintptr_t page_size;
    struct sigaction before;
    atomic_bool cut;
} guarded;

/* What is no page of the file is left to what the signal did before: the
 * instruction runs again, and faults again. */
static void on_bus(int number, siginfo_t *fault, void *context)
{
    const char *address = fault->si_addr;
    (void)context;
    char *page = (char *)((uintptr_t)address & ~(guarded.page_size - 1));
    bool ours = address >= guarded.start && address < guarded.end;
    if (ours
        && mmap(page, guarded.page_size, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
               == page)
        atomic_store(&guarded.cut, true);
    else
        sigaction(number, &guarded.before, NULL);
}

void import_guard(struct import *import)
{
    struct sigaction action = { .sa_sigaction = on_bus,
                                .sa_flags = SA_SIGINFO };
    if (!import->text.map || atomic_exchange(&guarded.taken, true))
        return;
    import->text.guarded = true;
    guarded.start = import->text.map;
    guarded.end = import->text.map_end;
    guarded.page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    atomic_store(&guarded.cut, false);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &guarded.before);
}

/* What is left of the last page reads as zeros, without a signal. */
bool import_is_cut(const struct import *import)
{
    const struct import_text *text = &import->text;
    struct stat facts;
    off_t size = text->map_end - text->map;
    return (text->guarded && atomic_load(&guarded.cut))
           || (text->map && fstat(text->fd, &facts) == 0
               && facts.st_size < size);
}

void import_unguard(struct import *import)
{
    if (!import->text.guarded)
        return;
    sigaction(SIGBUS, &guarded.before, NULL);
    import->text.guarded = false;
    atomic_store(&guarded.taken, false);
}
