/* SPDX-License-Identifier: MIT */
/* CSV: the first byte says how the file is read, the rest is the file. It is
 * imported into a new table, and then once more into the one that is there. */
#include "fuzz.h"

#include "io/import/import.h"

#include <stdlib.h>
#include <string.h>

/* No mutations but libFuzzer's own. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                               unsigned int seed)
{
    (void)seed;
    return LLVMFuzzerMutate(data, size, most);
}

static void import(vdbq *db, const char *file, unsigned how)
{
    struct import_params params = { .db = db,
                                    .file = file,
                                    .table = "n",
                                    .header = (int)(how % 3) - 1,
                                    .threads = 1 + how % 2 };
    struct import_report report;

    params.dialect.delimiter = "\0,;\t|"[how / 3 % 5];
    if (import_csv(&params, &report) != VDBQ_OK && report.message[0] == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char look[] =
        "select * from n; select count(*), min(a), max(b) from n; "
        "select distinct * from n order by 1";
    vdbq *db = fuzz_open(NULL, 0);

    if (db == NULL || size == 0)
        return vdbq_close(db), 0;
    const char *file = fuzz_file(data + 1, size - 1);
    import(db, file, data[0]);
    import(db, file, data[0]);
    fuzz_run(db, look, strlen(look));
    vdbq_close(db);
    return 0;
}
