/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading rules of allocators (allocator_rule.h). Pure; calls nothing. */
#include "shm/allocator_rule.h"

struct text {
	const char *at;
	size_t bytes;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; empty at its end. */
static struct text take_word(struct text *line)
{
	struct text word;

	while (line->bytes > 0 && is_space(*line->at)) {
		line->at++;
		line->bytes--;
	}
	word = (struct text){ line->at, 0 };
	while (word.bytes < line->bytes && !is_space(line->at[word.bytes]))
		word.bytes++;
	line->at += word.bytes;
	line->bytes -= word.bytes;
	return word;
}

/* Takes a prefix off. */
static bool take(struct text *t, const char *prefix)
{
	size_t bytes = __builtin_strlen(prefix);

	if (t->bytes < bytes || __builtin_memcmp(t->at, prefix, bytes) != 0)
		return false;
	t->at += bytes;
	t->bytes -= bytes;
	return true;
}

static bool is(const struct text *t, const char *word)
{
	struct text rest = *t;

	return take(&rest, word) && rest.bytes == 0;
}

/* argN, N from 1 to 6. */
static bool take_argument(struct text *t, uint8_t *out)
{
	struct text rest = *t;

	if (!take(&rest, "arg") || rest.bytes == 0 || *rest.at < '1' || *rest.at > '6')
		return false;
	*out = (uint8_t)(*rest.at - '0');
	t->at = rest.at + 1;
	t->bytes = rest.bytes - 1;
	return true;
}

/* A decimal number that is all of the text. */
static bool take_number(struct text *t, uint64_t *out)
{
	uint64_t n = 0;

	if (t->bytes == 0 || t->bytes > 18)
		return false;
	for (; t->bytes > 0; t->at++, t->bytes--) {
		if (*t->at < '0' || *t->at > '9')
			return false;
		n = n * 10 + (uint64_t)(*t->at - '0');
	}
	*out = n;
	return true;
}

static const char *read_size(struct text t, struct allocator_rule *r)
{
	static const char wrong[] = "size= takes argN, argN*argM, a number, or string";

	if (is(&t, "string")) {
		r->size_string = true;
		return NULL;
	}
	if (!take_argument(&t, &r->size_arg))
		return take_number(&t, &r->size_number) ? NULL : wrong;
	if (t.bytes == 0)
		return NULL;
	return take(&t, "*") && take_argument(&t, &r->size_factor) && t.bytes == 0 ? NULL : wrong;
}

static const char *read_result(struct text t, struct allocator_rule *r)
{
	if (is(&t, "ret")) {
		r->result = ALLOCATOR_RETURNED;
		return NULL;
	}
	r->result = take(&t, "*") ? ALLOCATOR_POINTED : ALLOCATOR_ARGUMENT;
	return take_argument(&t, &r->result_arg) && t.bytes == 0
		       ? NULL
		       : "result= takes ret, argN, or *argN";
}

static const char *read_when(struct text t, struct allocator_rule *r)
{
	static const char wrong[] = "when takes ret=X, ret!=X or ret>=X, X a number or argN";

	if (!take(&t, "ret"))
		return wrong;
	if (take(&t, "="))
		r->when = ALLOCATOR_EQUAL;
	else if (take(&t, "!="))
		r->when = ALLOCATOR_NOT_EQUAL;
	else if (take(&t, ">="))
		r->when = ALLOCATOR_AT_LEAST;
	else
		return wrong;
	if (take_argument(&t, &r->when_arg))
		return t.bytes == 0 ? NULL : wrong;
	return take_number(&t, &r->when_number) ? NULL : wrong;
}

static const char *read_clause(struct text word, struct text *line, struct allocator_rule *r)
{
	if (is(&word, "when"))
		return read_when(take_word(line), r);
	if (take(&word, "size="))
		return read_size(word, r);
	if (take(&word, "result="))
		return read_result(word, r);
	if (take(&word, "free="))
		return take_argument(&word, &r->free_arg) && word.bytes == 0
			       ? NULL
			       : "free= takes argN (arg1 to arg6)";
	return "unknown word (known: size= free= result= when)";
}

static bool has_size(const struct allocator_rule *r)
{
	return r->size_arg != 0 || r->size_string || r->size_number != 0;
}

/* Whether the clauses fit each other. */
static const char *judge(const struct allocator_rule *r)
{
	if (has_size(r) && r->result == ALLOCATOR_NO_RESULT)
		return "size= without result=";
	if (r->free_arg == 0 && r->result == ALLOCATOR_NO_RESULT)
		return "neither free= nor result=";
	if (!has_size(r) && r->result != ALLOCATOR_NO_RESULT)
		return "result= without size=";
	if (r->when != ALLOCATOR_ALWAYS && r->result == ALLOCATOR_NO_RESULT)
		return "when without result=";
	return NULL;
}

const char *allocator_rule_read(const char *text, size_t bytes, struct allocator_rule *out)
{
	struct text line = { text, bytes }, word;
	const char *wrong = NULL;

	*out = (struct allocator_rule){ .name = text };
	for (size_t i = 0; i < line.bytes; i++)
		if (line.at[i] == '#')
			line.bytes = i;
	word = take_word(&line);
	if (word.bytes == 0)
		return NULL;
	if (word.bytes > ALLOCATOR_RULE_NAME_MAX)
		return "the name is too long";
	while (!wrong) {
		struct text clause = take_word(&line);

		if (clause.bytes == 0)
			break;
		wrong = read_clause(clause, &line, out);
	}
	if (!wrong)
		wrong = judge(out);
	out->name = word.at;
	out->name_bytes = wrong ? 0 : (uint8_t)word.bytes;
	return wrong;
}
