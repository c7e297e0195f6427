/* SPDX-License-Identifier: MIT */
#include "data/rule/rule_values.h"

#include "base/memory.h"

static struct index_of index_of(const struct rule_source *source,
                                const struct index *index)
{
    return (struct index_of){ .database = source->database,
                              .catalogue = source->catalogue,
                              .table = source->table,
                              .index = index };
}

enum vdbq_status rule_values_make(const struct rule_source *source,
                                  const struct unique_rule *rule, uint64_t rows,
                                  const struct vdbq_vector *vectors,
                                  struct rule_values *values,
                                  struct error *error)
{
    const struct index_of of = index_of(source, rule->keyed);
    enum vdbq_status status;

    *values = (struct rule_values){ .vectors = vectors };
    if (rule->keyed == NULL)
        return VDBQ_OK;
    values->vectors = values->own =
        memory_zeroed(rule->column_count, sizeof *values->own);
    if (values->own == NULL)
        return error_no_memory(error);
    status = index_values_compute(&of, rows, vectors, &values->computed, error);
    if (status == VDBQ_OK
        && !index_values_spread(&values->computed, rows, &values->arena,
                                values->own))
        status = error_no_memory(error);
    return status;
}

void rule_values_finish(struct rule_values *values)
{
    index_values_finish(&values->computed);
    memory_release(values->own);
    arena_finish(&values->arena);
    *values = (struct rule_values){ 0 };
}

enum vdbq_status rules_values_make(const struct rule_source *source,
                                   const struct vector *rules, uint64_t rows,
                                   const struct vdbq_vector *vectors,
                                   struct rules_values *values,
                                   struct error *error)
{
    enum vdbq_status status = VDBQ_OK;

    values->count = 0;
    values->items = memory_zeroed(rules->count + 1, sizeof *values->items);
    if (values->items == NULL)
        return error_no_memory(error);
    for (; values->count < rules->count && status == VDBQ_OK; values->count++)
        status =
            rule_values_make(source, vector_at(rules, values->count), rows,
                             vectors, &values->items[values->count], error);
    return status;
}

void rules_values_finish(struct rules_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        rule_values_finish(&values->items[i]);
    memory_release(values->items);
    *values = (struct rules_values){ 0 };
}

enum vdbq_status index_values_prove(const struct rule_source *source,
                                    uint64_t rows,
                                    const struct vdbq_vector *vectors,
                                    const bool *changed, struct error *error)
{
    const struct catalogue *catalogue = source->catalogue;
    enum vdbq_status status =
        row_checks_prove(source, rows, vectors, changed, error);

    for (size_t i = 0; i < catalogue->index_count && status == VDBQ_OK; i++) {
        const struct index *index = &catalogue->indexes[i];
        const struct index_of of = index_of(source, index);
        struct index_values values;
        if (index->table_id != source->table->id || index->keys == NULL
            || index->unique || (changed && !index_reads(index, changed)))
            continue;
        status = index_values_compute(&of, rows, vectors, &values, error);
        index_values_finish(&values);
    }
    return status;
}
