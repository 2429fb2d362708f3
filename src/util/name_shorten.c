/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shortens demangled names by folding groups. A name is read once, left to right, group by group: a
 * group is the text between matching (), <>, [] or {}. Called by the row formatters and the screen
 * on the main thread; pure.
 */
#include "src/util/name_shorten.h"

#include <string.h>
#include "src/util/text.h"

/* Longest folded name; a longer one is cut at its end. */
#define FOLDED_MAX 2048u
/* Deepest nesting of groups; deeper names stay unfolded. */
#define DEPTH_MAX 200u

struct fold {
	char *out;
	size_t cap, len;
	bool full; /* the buffer is full */
	bool templates; /* fold <>, too */
	const char *dots;
};

/* Number of the `len` bytes that fit into `space` without cutting a UTF-8 character. */
static size_t whole_bytes(const char *bytes, size_t len, size_t space)
{
	if (len <= space)
		return len;
	while (space > 0 && ((unsigned char)bytes[space] & 0xc0) == 0x80)
		space--;
	return space;
}

/* Bytes of the character at `s`. */
static size_t character_bytes(const char *s, const char *end)
{
	size_t n = 1;

	while (s + n < end && ((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static void put(struct fold *f, const char *bytes, size_t len)
{
	size_t fits = f->full ? 0 : whole_bytes(bytes, len, f->cap - 1 - f->len);

	memcpy(f->out + f->len, bytes, fits);
	f->len += fits;
	f->full = f->full || fits < len;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

/*
 * Bytes of the operator name that begins at `s`, or 0. Its brackets open no group. A conversion
 * ("operator bool") counts as a plain word.
 */
static size_t operator_length(const char *name, const char *s)
{
	/* Longer ones before their prefixes. */
	static const char *const symbols[] = { "()", "[]", "<=>", "<<=", "<<", "<=", "<",
		">>=", ">>", ">=", ">", "->*", "->", "\"\" ", "\"\"" };
	static const char *const words[] = { " new[]", " delete[]", " new", " delete" };

	if (!starts(s, "operator") || (s > name && is_word(s[-1])))
		return 0;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (starts(s + 8, symbols[i]))
			return 8 + strlen(symbols[i]);
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (starts(s + 8, words[i]))
			return 8 + strlen(words[i]);
	}
	return 0;
}

static char closer_of(char c)
{
	switch (c) {
	case '(':
		return ')';
	case '<':
		return '>';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return '\0';
	}
}

/* "((1)<(2))", "((1)<<(3))": comparisons and shifts in template arguments are in parentheses. */
static bool is_less_than(const char *s, char closer)
{
	return closer == ')' && s[0] == '<' && s[-1] == ')' && (s[1] == '(' || s[1] == '<');
}

/* The byte after the group that begins at `s`; NULL if it is never closed. */
static const char *group_end(const char *name, const char *s, unsigned depth)
{
	char closer = closer_of(*s++);

	while (*s && *s != closer) {
		size_t op = operator_length(name, s);

		if (op > 0)
			s += op;
		else if (s[0] == '-' && s[1] == '>')
			s += 2;
		else if (is_less_than(s, closer))
			s += s[1] == '<' ? 2 : 1;
		else if (closer_of(*s) && depth < DEPTH_MAX)
			s = group_end(name, s, depth + 1);
		else
			s++;
		if (!s)
			return NULL;
	}
	return *s ? s + 1 : NULL;
}

/* A name with an unmatched bracket is not folded. */
static bool is_balanced(const char *name)
{
	const char *s = name;

	while (*s) {
		size_t op = operator_length(name, s);

		if (op > 0)
			s += op;
		else if (s[0] == '-' && s[1] == '>')
			s += 2;
		else if (*s == '>' || *s == ')')
			return false;
		else if (closer_of(*s))
			s = group_end(name, s, 0);
		else
			s++;
		if (!s)
			return false;
	}
	return true;
}

/*
 * Parentheses that are part of a name: "(anonymous namespace)", a Go receiver "(*T)", a declarator
 * before the parameters "(*f(int))(char)".
 */
static bool is_name_group(const char *name, const char *s)
{
	return starts(s, "(anonymous") || s == name || s[-1] == '.' || s[-1] == ' ' ||
	       starts(s, "(*") || starts(s, "(&");
}

static void fold_run(struct fold *f, const char *name, const char *s, const char *end);

static void fold_group(struct fold *f, const char *name, const char *s, const char *end)
{
	bool empty = end - s == 2;

	if (*s == '<' && f->templates && !empty) {
		put(f, "<", 1);
		put(f, f->dots, strlen(f->dots));
		put(f, ">", 1);
	} else if (*s == '(' && !is_name_group(name, s) && !empty) {
		put(f, "(", 1);
		put(f, f->dots, strlen(f->dots));
		put(f, ")", 1);
	} else if (*s == '{') {
		put(f, s, 1);
		fold_run(f, name, s + 1, end - 1);
		put(f, "}", 1);
	} else {
		put(f, s, (size_t)(end - s));
	}
}

/* Bytes of a qualifier after the parameters, which is not part of the name. */
static size_t qualifier_length(const char *s)
{
	static const char *const qualifiers[] = { " const", " volatile", " noexcept", " &&", " &",
		"&&", "&" };

	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++) {
		size_t n = strlen(qualifiers[i]);

		if (starts(s, qualifiers[i]) && !is_word(s[n]))
			return n;
	}
	return 0;
}

/* Bytes of a tag: "[abi:cxx11]" names an ABI, " [clone .cold]" a copy. */
static size_t tag_length(const char *s, const char *end)
{
	const char *close;

	if (!starts(s, "[abi:") && !starts(s, " [clone "))
		return 0;
	close = memchr(s, ']', (size_t)(end - s));
	return close ? (size_t)(close + 1 - s) : 0;
}

/*
 * Rust: "<alloc::vec::Vec<T> as core::ops::Drop>" qualifies what follows; the type is more useful
 * than "<…>". Writes the type. Returns its bytes with the angle brackets; 0 if `s` is no such type.
 */
static size_t fold_self_type(struct fold *f, const char *name, const char *s, const char *end)
{
	const char *group = group_end(name, s, 0), *p = s + 1, *close;
	bool path;

	if (!group || group >= end || !starts(group, "::") || starts(s, "<impl "))
		return 0;
	close = group - 1;
	while (p < close && !starts(p, " as ")) {
		const char *next = closer_of(*p) ? group_end(name, p, 0) : p + 1;

		p = next ? next : close;
	}
	path = is_word(s[1]) && !starts(s + 1, "dyn ");
	if (!path)
		put(f, "<", 1);
	fold_run(f, name, s + 1, p < close ? p : close);
	if (!path)
		put(f, ">", 1);
	return (size_t)(group - s);
}

static void fold_run(struct fold *f, const char *name, const char *s, const char *end)
{
	bool after_parameters = false;

	while (s < end) {
		size_t n = operator_length(name, s);
		const char *group = n == 0 && closer_of(*s) ? group_end(name, s, 0) : NULL;

		if (n > 0) {
			put(f, s, n);
		} else if ((n = tag_length(s, end)) > 0 ||
			   (after_parameters && (n = qualifier_length(s)) > 0)) {
			s += n;
			continue;
		} else if (*s == '<' && f->templates && (s == name || s[-1] == ' ') &&
			   (n = fold_self_type(f, name, s, end)) > 0) {
			s += n;
			continue;
		} else if (group && group <= end) {
			fold_group(f, name, s, group);
			n = (size_t)(group - s);
		} else {
			n = character_bytes(s, end);
			put(f, s, n);
		}
		after_parameters = *s == '(';
		s += n;
	}
}

/*
 * Demanglers may put the return type of a template first ("void f<int>(int)"). Returns where the
 * name itself begins: after the last space outside of groups before the parameters.
 */
static const char *skip_return_type(const char *name)
{
	const char *s = name, *start = name;

	while (*s) {
		size_t op = operator_length(name, s);

		if (op > 0 || starts(s, "operator "))
			return start;
		if (*s == '(' && !is_name_group(name, s))
			return start;
		if (*s == ' ' && (!strchr("([<", s[1]) || starts(s + 1, "(anonymous ")))
			start = s + 1;
		if (closer_of(*s)) {
			s = group_end(name, s, 0);
			if (!s)
				return name;
		} else {
			s++;
		}
	}
	return name; /* no parameters: not a demangled function name */
}

static void fold(char *out, size_t cap, const char *name, bool templates, bool ascii)
{
	struct fold f = { .out = out, .cap = cap, .templates = templates };
	const char *start = skip_return_type(name);

	f.dots = ascii ? "..." : "…";
	fold_run(&f, name, start, start + strlen(start));
	out[f.len] = '\0';
}

static size_t copy(char *out, size_t cap, const char *text)
{
	size_t len = whole_bytes(text, strlen(text), cap - 1);

	memcpy(out, text, len);
	out[len] = '\0';
	return text_cells(out);
}

/* The next "::" outside of groups, or NULL. */
static const char *next_scope(const char *name, const char *s)
{
	while (*s && !starts(s, "::")) {
		size_t op = operator_length(name, s);
		const char *end = op == 0 && closer_of(*s) ? group_end(name, s, 0) : NULL;

		s = end ? end : s + (op > 0 ? op : 1);
	}
	return *s ? s : NULL;
}

/* Cells of a part's end that are worth showing without its beginning. */
#define PART_CELLS 4u

/* Where the last `cells` cells before `end` begin, which is the end of a plain word; `end`: it is
 * none, or they are few. */
static const char *word_end(const char *name, const char *end, size_t cells)
{
	const char *s = end;

	while (s > name && is_word(s[-1]))
		s--;
	if (cells < PART_CELLS)
		return end;
	while (text_cells(s) - text_cells(end) > cells)
		s += character_bytes(s, end);
	return s;
}

/* "…::insert(…)", or "…itySet::insert(…)" where there is room: keeps as many of the last parts as
 * fit, at least the end of the last one, and of the part before them the end of its name. */
static size_t elide(char *out, size_t cap, const char *name, size_t cells, bool ascii)
{
	const char *dots = ascii ? "..." : "…";
	size_t dots_cells = ascii ? 3 : 1;
	char buf[FOLDED_MAX + 4];

	for (const char *s = next_scope(name, name); s; s = next_scope(name, s + 2)) {
		if (text_cells(s) + dots_cells <= cells) {
			strcpy(buf, dots);
			strcat(buf, word_end(name, s, cells - text_cells(s) - dots_cells));
			return copy(out, cap, buf);
		}
	}
	/* Not even that: of the last part as much as fits, without the colons before it. */
	for (const char *s = next_scope(name, name); s; s = next_scope(name, s + 2))
		if (text_cells(s + 2) < cells)
			cells = text_cells(s + 2) + 1;
	return text_elide(out, cap, name, cells, true, ascii);
}

size_t name_shorten(char *out, size_t cap, const char *name, size_t cells, bool always, bool ascii)
{
	char folded[FOLDED_MAX];

	if (cap == 0)
		return 0;
	if (!is_balanced(name) || strlen(name) >= 16 * FOLDED_MAX)
		return text_elide(out, cap, name, cells, true, ascii);
	if (!always && text_cells(name) <= cells)
		return copy(out, cap, name);
	if (!always) {
		fold(folded, sizeof(folded), name, false, ascii);
		if (text_cells(folded) <= cells)
			return copy(out, cap, folded);
	}
	fold(folded, sizeof(folded), name, true, ascii);
	if (text_cells(folded) <= cells)
		return copy(out, cap, folded);
	return elide(out, cap, folded, cells, ascii);
}
