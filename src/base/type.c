#include "base/type.h"
int type_machine(enum vdbq_type type)
{
    switch (type) {
    case VDBQ_BIGINT: case VDBQ_DECIMAL: case VDBQ_TIMESTAMP: return TYPE_I64;
    case VDBQ_FLOAT: return TYPE_F32;
    case VDBQ_DOUBLE: return TYPE_F64;
    case VDBQ_TEXT: return TYPE_WORD;
    default: return TYPE_I32;
    }
}

size_t type_bytes(enum vdbq_type type)
{
    switch (type_machine(type)) {
    case TYPE_I64: case TYPE_F64: return 8;
    case TYPE_WORD: return sizeof(struct vdbq_text);
    default: return 4;
    }
}
