#ifndef VDBQ_BASE_TYPE_H
#define VDBQ_BASE_TYPE_H
#include "api/vdbq.h"
#include "cl/types.h"
int type_machine(enum vdbq_type type);
size_t type_bytes(enum vdbq_type type);
#endif
