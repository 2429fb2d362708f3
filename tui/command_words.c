/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells a command line from others of the same program (command_words.h). */
#include "tui/command_words.h"

#include <stdio.h>
#include <string.h>

struct word {
	const char *text;
	size_t len;
};

/* The word at or after `*at`, which is moved behind it. An empty one: there is none. */
static struct word word_next(const char **at)
{
	struct word w = { *at + strspn(*at, " "), 0 };

	w.len = strcspn(w.text, " ");
	*at = w.text + w.len;
	return w;
}

static struct word program_of(const char *command)
{
	const char *at = command, *slash;
	struct word w = word_next(&at);

	slash = memrchr(w.text, '/', w.len);
	if (slash) {
		w.len -= (size_t)(slash + 1 - w.text);
		w.text = slash + 1;
	}
	return w;
}

static bool is_same(struct word a, struct word b)
{
	return a.len == b.len && memcmp(a.text, b.text, a.len) == 0;
}

bool command_words_alike(const char *a, const char *b)
{
	return is_same(program_of(a), program_of(b));
}

/* Is the word one of those before `end`? The program is none. */
static bool has_word(const char *command, const char *end, struct word word)
{
	const char *at = command;
	struct word w;

	word_next(&at);
	while ((w = word_next(&at)).len && at <= end)
		if (is_same(w, word))
			return true;
	return false;
}

static bool all_have(const char *const *other, size_t others, struct word word)
{
	for (size_t i = 0; i < others; i++)
		if (!has_word(other[i], other[i] + strlen(other[i]), word))
			return false;
	return true;
}

bool command_words_own(const char *command, const char *const *other, size_t others,
	const char *gap, char *out, size_t cap)
{
	const char *at = command;
	struct word w = program_of(command);
	size_t len = (size_t)snprintf(out, cap, "%.*s", (int)w.len, w.text), name = len;
	bool left_out = false;

	word_next(&at);
	while ((w = word_next(&at)).len && len < cap) {
		if (all_have(other, others, w) || has_word(command, w.text - 1, w)) {
			left_out = true;
			continue;
		}
		len += (size_t)snprintf(out + len, cap - len, "%s%s %.*s", left_out ? " " : "",
			left_out ? gap : "", (int)w.len, w.text);
		left_out = false;
	}
	if (left_out && len < cap)
		snprintf(out + len, cap - len, " %s", gap);
	return len > name;
}
