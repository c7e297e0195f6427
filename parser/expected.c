/* SPDX-License-Identifier: MIT */
/*
 * What a message says of the tokens that would fit: few words for many of
 * them. An expression, an operator or a name may start with dozens of tokens,
 * and a person is told "an expression".
 *
 * Roles are told by ranges of tokens, so that the order of sql.y's list counts.
 */
#include "parser/parser_inner.h"

#include <assert.h>

#include "parser/sql_parser.h"

/* Tokens that messages tell as a group. */
enum role {
    ROLE_OTHER,
    ROLE_WORD,    /* a name unless more is meant, see `name` in sql.y */
    ROLE_OPERAND, /* starts an expression                             */
    ROLE_BOTH,    /* the same, or an operator                         */
    ROLE_EITHER,  /* a name, or an operator                           */
    ROLE_OPERATOR
};

static enum role role_of(int token)
{
    switch (token) {
    case TOKEN_INTEGER:
    case TOKEN_DECIMAL:
    case TOKEN_STRING:
    case TOKEN_NULL:
    case TOKEN_TRUE:
    case TOKEN_FALSE:
    case TOKEN_LEFT:
    case TOKEN_IS_NOT:
    case TOKEN_CASE:
    case TOKEN_EXISTS:
    case TOKEN_PARAMETER:
    case TOKEN_NAME:
    case TOKEN_DISTINCT:
        return ROLE_OPERAND;
    case TOKEN_NOT:
    case TOKEN_PLUS:
    case TOKEN_MINUS:
    case TOKEN_MATCHES: /* ~, of bits, too */
    case TOKEN_LIKE:
    case TOKEN_ILIKE:
        return ROLE_BOTH;
    case TOKEN_GLOB:
    case TOKEN_REGEXP:
    case TOKEN_SIMILAR:
        return ROLE_EITHER;
    default:
        break;
    }
    if (token >= TOKEN_QUOTED && token <= TOKEN_VIEW)
        return ROLE_WORD;
    return token >= TOKEN_OR && token <= TOKEN_PERCENT ? ROLE_OPERATOR
                                                       : ROLE_OTHER;
}

/* What a message says of a token that would fit, which has that name; NULL:
 * nothing, for another one says it. `fits` says of every token whether it
 * would. */
static const char *told_name(int token, const char *name, const bool *fits)
{
    bool before_operand = fits[TOKEN_INTEGER] && fits[TOKEN_NULL];
    bool behind_operand = fits[TOKEN_PERCENT];
    bool sized = fits[TOKEN_PRIMARY] && fits[TOKEN_RIGHT];
    enum role role = role_of(token);

    if (token == TOKEN_ONE_EXPRESSION)
        return NULL; /* which nobody writes */
    if (before_operand && token == TOKEN_INTEGER)
        return "an expression";
    if (before_operand && (role == ROLE_OPERAND || role == ROLE_BOTH))
        return NULL;
    if (token == TOKEN_AND && !fits[TOKEN_OR])
        return "AND"; /* of BETWEEN */
    if (behind_operand && token == TOKEN_PERCENT)
        return "an operator";
    if (behind_operand
        && (role == ROLE_OPERATOR || role == ROLE_BOTH || role == ROLE_EITHER
            || token == TOKEN_STAR || token == TOKEN_DOT
            || token == TOKEN_LEFT))
        return NULL;
    if (sized && token == TOKEN_LEFT)
        return NULL; /* a length, which few types take */
    if (fits[TOKEN_TYPE_WORDS]
        && (token == TOKEN_TYPE_WORDS || token == TOKEN_NAME))
        return token == TOKEN_NAME ? "a type" : NULL;
    if (fits[TOKEN_NAME] && (role == ROLE_WORD || role == ROLE_EITHER))
        return NULL;
    if (token == TOKEN_END && fits[TOKEN_SELECT])
        return NULL;
    if (token == TOKEN_CONSTRAINT
        || (token == TOKEN_CHECK && fits[TOKEN_DEFAULT]))
        return NULL; /* other rules are told, and a message has few words */
    return name;
}

static bool is_keyword(const char *name)
{
    return name[0] >= 'A' && name[0] <= 'Z';
}

void parse_expected(const struct expected_token *tokens, unsigned count,
                    struct unexpected *found)
{
    bool fits[TOKEN_CODES_MAX] = { false };

    assert(count <= EXPECTED_MAX);
    for (unsigned i = 0; i < count; i++)
        fits[tokens[i].token] = true;
    for (unsigned i = 0; i < count; i++) {
        /* the end, the first of all tokens, is told last */
        const struct expected_token *token =
            &tokens[(i + fits[TOKEN_END]) % count];
        const char *name = told_name(token->token, token->name, fits);
        if (name != NULL)
            found->expected[found->count++] = name;
        if (is_keyword(token->name))
            found->keywords[found->keyword_count++] = token->name;
    }
    found->operand_before = fits[TOKEN_PERCENT];
    found->may_end = fits[TOKEN_END] && !fits[TOKEN_SELECT];
}
