/* SPDX-License-Identifier: MIT */
/* How the text is separated and quoted: as the caller says, or as is found. */
#include "io/import/import_inner.h"

struct csv_reader import_reader(const struct import *import, const char *start,
                                const char *end)
{
    int quote = import->dialect.quote;
    return (struct csv_reader){ .at = start,
                                .end = end,
                                .delimiter = import->dialect.delimiter,
                                .quote =
                                    quote == CSV_UNQUOTED ? 0 : (char)quote,
                                .escape = import->dialect.escape,
                                .single = import->columns == 1 };
}

/* What the file's name lets one expect. */
static char usual_delimiter(const char *file)
{
    return packing_name_ends(file, ".tsv") || packing_name_ends(file, ".tab")
               ? '\t'
               : ',';
}

void import_dialect(struct import *import, const char *start, const char *end)
{
    const struct import_params *params = import->params;
    struct import_report *report = import->report;
    const char usual = usual_delimiter(params->file);
    import->dialect = csv_sniff(start, end, params->dialect, usual);
    report->dialect = import->dialect;
    report->unusual =
        (!params->dialect.delimiter && report->dialect.delimiter != usual)
        || (!params->dialect.quote && report->dialect.quote != '"');
}
