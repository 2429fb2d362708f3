/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The filter expression (filter.h). The screen applies it to each snapshot, on the main thread, so
 * terms on numbers are tried before those on text.
 */
#include "src/model/filter.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/util/units.h"

#define TERMS_MAX 16

enum field { ANYWHERE, FUNCTION, FILENAME, MODULE, STACK, THREAD, NUMBER };

struct term {
	enum field field;
	bool negated;
	/* of terms on text */
	char word[FILTER_TEXT_MAX];
	bool folds_case, is_regex;
	regex_t regex;
	/* of terms on numbers */
	double (*value)(const struct snapshot *snap, const struct snap_site *site);
	bool less, greater, equal;
	double bound;
};

struct filter {
	char text[FILTER_TEXT_MAX];
	struct term term[TERMS_MAX];
	unsigned terms;
};

/* ---- numbers ------------------------------------------------------------------------------ */

static double value_sites(const struct snapshot *snap, const struct snap_site *site)
{
	return site->group ? site->group->sites : 1;
}

static double value_live(const struct snapshot *snap, const struct snap_site *site)
{
	return (double)site->live_bytes;
}

static double value_blocks(const struct snapshot *snap, const struct snap_site *site)
{
	return (double)site->live_blocks;
}

static double value_avg(const struct snapshot *snap, const struct snap_site *site)
{
	return site->live_blocks ? (double)(site->live_bytes / site->live_blocks) : 0;
}

static double value_peak(const struct snapshot *snap, const struct snap_site *site)
{
	/* A group's peak is unknown, so no comparison holds. */
	return site->group && site->group->sites > 1 ? NAN : (double)site->peak_live_bytes;
}

static double value_at_peak(const struct snapshot *snap, const struct snap_site *site)
{
	return snap->totals.has_at_peak && !site->of_thread ? (double)site->at_peak_bytes : NAN;
}

static double value_allocs(const struct snapshot *snap, const struct snap_site *site)
{
	return (double)site->allocs;
}

static double value_temp(const struct snapshot *snap, const struct snap_site *site)
{
	return (double)site->temporary;
}

static double value_rate(const struct snapshot *snap, const struct snap_site *site)
{
	return site->rate_bytes_per_s;
}

/* A site without live blocks has no age, so no comparison holds. */
static double value_age(const struct snapshot *snap, const struct snap_site *site)
{
	return site->has_ages ? (double)site->oldest_ns : NAN;
}

static double value_youngest(const struct snapshot *snap, const struct snap_site *site)
{
	return site->has_ages ? (double)site->youngest_ns : NAN;
}

static double value_percent(const struct snapshot *snap, const struct snap_site *site)
{
	return snap->totals.live_bytes
		       ? 100.0 * (double)site->live_bytes / (double)snap->totals.live_bytes
		       : 0;
}

static double value_growth(const struct snapshot *snap, const struct snap_site *site)
{
	return site->growth.sure > 0 ? site->growth.bytes_per_s : 0;
}

static double value_since(const struct snapshot *snap, const struct snap_site *site)
{
	return (double)site->since.bytes;
}

static const struct number_field {
	const char *name;
	double (*value)(const struct snapshot *snap, const struct snap_site *site);
	double kilo; /* factor of the suffix k: 1024 for bytes; 0: the value is a time */
} number_fields[] = {
	{ "live", value_live, 1024 },
	{ "blocks", value_blocks, 1000 },
	{ "avg", value_avg, 1024 },
	{ "peak", value_peak, 1024 },
	{ "atpeak", value_at_peak, 1024 },
	{ "allocs", value_allocs, 1000 },
	{ "temp", value_temp, 1000 },
	{ "rate", value_rate, 1024 },
	{ "percent", value_percent, 1 },
	{ "sites", value_sites, 1000 },
	{ "age", value_age, 0 },
	{ "youngest", value_youngest, 0 },
	{ "growth", value_growth, 1024 },
	{ "since", value_since, 1024 },
};
#define NUMBER_FIELDS (sizeof(number_fields) / sizeof(number_fields[0]))

static const struct {
	const char *name;
	enum field field;
} text_fields[] = { { "function:", FUNCTION }, { "file:", FILENAME }, { "module:", MODULE },
	{ "stack:", STACK }, { "thread:", THREAD } };

/* ---- parsing ------------------------------------------------------------------------------ */

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* "1.5M", "300", "-2k"; accepts a redundant "/s" or "%". */
static bool number_read(const char *text, size_t len, double kilo, double *out)
{
	char copy[FILTER_TEXT_MAX], *end;

	memcpy(copy, text, len);
	copy[len] = 0;
	*out = strtod(copy, &end);
	if (end == copy || isalpha((unsigned char)copy[0]))
		return false;
	for (const char *units = "kmgt"; *units && kilo > 1; units++) {
		if ((*end | 0x20) != *units)
			continue;
		for (const char *u = "kmgt"; u <= units; u++)
			*out *= kilo;
		end++;
		break;
	}
	if (*end == 'B' || *end == '%')
		end++;
	return *end == 0 || strcmp(end, "/s") == 0;
}

static bool time_read(const char *text, size_t len, double *out)
{
	char copy[FILTER_TEXT_MAX];
	uint64_t ns;

	memcpy(copy, text, len);
	copy[len] = 0;
	if (units_parse_duration(copy, &ns) != 0)
		return false;
	*out = (double)ns;
	return true;
}

static bool bound_read(double kilo, const char *text, size_t len, double *out)
{
	return kilo == 0 ? time_read(text, len, out) : number_read(text, len, kilo, out);
}

static const struct number_field *number_field_find(const char *name, size_t len)
{
	for (size_t i = 0; i < NUMBER_FIELDS; i++)
		if (strlen(number_fields[i].name) == len &&
			!strncmp(number_fields[i].name, name, len))
			return &number_fields[i];
	return NULL;
}

/* "avg<int>", "age<<": a comparison without a number may be a C++ name. */
static bool reads_as_name(const char *compare, size_t len, const char *bound, size_t bound_len)
{
	if (compare[0] != '<' || (len == 2 && compare[1] == '='))
		return false;
	return len > 1 || (bound_len && (isalpha((unsigned char)*bound) || *bound == '_')) ||
	       memchr(bound, '>', bound_len) || memchr(bound, ',', bound_len);
}

/* "liev>1M" was meant as a comparison; "R<40>", "array<3" and "operator==" are names. */
static bool reads_as_typo(const char *name, const char *compare, const char *bound, const char *end)
{
	size_t len = (size_t)(end - bound);
	double any;

	for (const char *c = name; c < compare; c++)
		if (!islower((unsigned char)*c))
			return false;
	if (name == compare || !len ||
		(!number_read(bound, len, 1024, &any) && !time_read(bound, len, &any)))
		return false;
	return *compare != '<' || bound - compare > 1 || !isdigit((unsigned char)end[-1]);
}

/* "live>1M": a field's name, a comparison, a number. False: no such term, so it is text. */
static bool term_number(struct term *t, const char *p, size_t len, const char **why)
{
	const struct number_field *field;
	const char *compare = p, *bound, *end = p + len;

	while (compare < end && isalpha((unsigned char)*compare))
		compare++;
	for (bound = compare; bound < end && strchr("<>=", *bound);)
		bound++;
	if (bound == compare)
		return false;
	field = number_field_find(p, (size_t)(compare - p));
	if (!field) {
		if (reads_as_typo(p, compare, bound, end))
			*why = "no such field; in quotes it is text (fields: live blocks avg peak "
			       "atpeak allocs temp rate percent sites age youngest growth since)";
		return *why != NULL;
	}
	if (!bound_read(field->kilo, bound, (size_t)(end - bound), &t->bound)) {
		if (reads_as_name(compare, (size_t)(bound - compare), bound, (size_t)(end - bound)))
			return false;
		*why = field->kilo == 0 ? "the comparison needs a time (500ms, 60s, 5m)"
					: "the comparison needs a number (1M, 300, 2.5k)";
	}
	for (const char *c = compare; c < bound; c++) {
		t->less |= *c == '<';
		t->greater |= *c == '>';
		t->equal |= *c == '=';
	}
	t->field = NUMBER;
	t->value = field->value;
	return true;
}

static bool has_capitals(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

/* The word or expression of a term: up to a blank, a closing quote or a closing slash. */
static const char *term_text(struct term *t, const char *p, const char **why)
{
	char close = *p == '"' || *p == '/' ? *p : 0;
	size_t len;

	if (close)
		p++;
	for (len = 0; p[len] && (close ? p[len] != close : p[len] != ' '); len++)
		if (close == '/' && p[len] == '\\' && p[len + 1])
			len++;
	memcpy(t->word, p, len);
	t->word[len] = 0;
	p += len;
	if (close && *p != close)
		*why = close == '"' ? "a closing \" is missing" : "a closing / is missing";
	else if (!len)
		*why = "there is nothing to search for";
	if (close && *p)
		p++;
	t->folds_case = !has_capitals(t->word);
	if (close != '/' || *why)
		return p;
	t->is_regex = regcomp(&t->regex, t->word,
			      REG_EXTENDED | REG_NOSUB | (t->folds_case ? REG_ICASE : 0)) == 0;
	if (!t->is_regex)
		*why = "not a valid regular expression";
	return p;
}

static const char *term_read(struct term *t, const char *p, const char **why)
{
	size_t len;

	if (*p == '!') {
		t->negated = true;
		p++;
	}
	len = strcspn(p, " ");
	if (term_number(t, p, len, why))
		return p + len;
	for (size_t i = 0; i < sizeof(text_fields) / sizeof(text_fields[0]); i++) {
		size_t name = strlen(text_fields[i].name);

		if (strncmp(p, text_fields[i].name, name) != 0)
			continue;
		t->field = text_fields[i].field;
		p += name;
	}
	return term_text(t, p, why);
}

struct filter *filter_parse(const char *text, char why[FILTER_WHY_MAX])
{
	struct filter *f = calloc(1, sizeof(*f));
	const char *p = skip_blanks(text), *wrong = NULL;

	if (!f || strlen(text) >= sizeof(f->text)) {
		snprintf(why, FILTER_WHY_MAX, "%s", f ? "too long" : strerror(ENOMEM));
		free(f);
		return NULL;
	}
	strcpy(f->text, text);
	while (*p && !wrong && f->terms < TERMS_MAX) {
		const char *start = p;

		p = skip_blanks(term_read(&f->term[f->terms++], p, &wrong));
		if (wrong)
			snprintf(why, FILTER_WHY_MAX, "\"%.*s\": %s",
				(int)strcspn(start, " ") < 40 ? (int)strcspn(start, " ") : 40,
				start, wrong);
	}
	if (!wrong && !f->terms)
		snprintf(why, FILTER_WHY_MAX, "%s", wrong = "there is nothing to search for");
	else if (!wrong && *p)
		snprintf(why, FILTER_WHY_MAX, "%s", wrong = "too many terms");
	if (!wrong)
		return f;
	filter_free(f);
	return NULL;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (unsigned i = 0; i < f->terms; i++)
		if (f->term[i].is_regex)
			regfree(&f->term[i].regex);
	free(f);
}

bool filter_wants_ages(const struct filter *f)
{
	for (unsigned i = 0; i < f->terms; i++)
		if (f->term[i].value == value_age || f->term[i].value == value_youngest)
			return true;
	return false;
}

bool filter_wants_threads(const struct filter *f)
{
	for (unsigned i = 0; i < f->terms; i++)
		if (f->term[i].field == THREAD)
			return true;
	return false;
}

const char *filter_text(const struct filter *f)
{
	return f->text;
}

/* ---- matching ----------------------------------------------------------------------------- */

static bool text_has(const struct term *t, const char *text)
{
	if (!text)
		return false;
	if (t->is_regex)
		return regexec(&t->regex, text, 0, NULL, 0) == 0;
	return (t->folds_case ? strcasestr(text, t->word) : strstr(text, t->word)) != NULL;
}

static bool frame_has(const struct term *t, const struct frame *f)
{
	switch (t->field) {
	case FUNCTION:
		return text_has(t, f->function);
	case FILENAME:
		return text_has(t, f->file);
	case MODULE:
		return text_has(t, f->module->path);
	case THREAD:
		return false; /* frames have no thread */
	case ANYWHERE:
	case STACK:
	case NUMBER:
		break;
	}
	return text_has(t, f->function) || text_has(t, f->file) || text_has(t, f->module->path);
}

static bool number_holds(const struct term *t, double value)
{
	return (t->less && value < t->bound) || (t->greater && value > t->bound) ||
	       (t->equal && value == t->bound);
}

static bool site_has(const struct term *t, const struct snap_site *site, bool show_hidden)
{
	const struct stack *st = site->stack;
	uint32_t title = show_hidden || st->title >= st->nframes ? 0 : st->title;

	for (uint32_t i = 0; t->field == THREAD && i < site->shares; i++)
		if (text_has(t, site->share[i].thread))
			return true;
	if (t->field != STACK)
		return frame_has(t, snapshot_frame(st, title));
	for (uint32_t i = 0; i < st->nframes; i++)
		if (frame_has(t, snapshot_frame(st, i)))
			return true;
	return false;
}

bool filter_match_numbers(
	const struct filter *f, const struct snapshot *snap, const struct snap_site *site)
{
	for (unsigned i = 0; i < f->terms; i++) {
		const struct term *t = &f->term[i];

		if (t->field == NUMBER && number_holds(t, t->value(snap, site)) == t->negated)
			return false;
	}
	return true;
}

bool filter_match_names(const struct filter *f, const struct snap_site *site, bool show_hidden)
{
	for (unsigned i = 0; i < f->terms; i++) {
		const struct term *t = &f->term[i];

		if (t->field != NUMBER && site_has(t, site, show_hidden) == t->negated)
			return false;
	}
	return true;
}

bool filter_match(const struct filter *f, const struct snapshot *snap, const struct snap_site *site,
	bool show_hidden)
{
	return filter_match_numbers(f, snap, site) && filter_match_names(f, site, show_hidden);
}

bool filter_match_frame(const struct filter *f, const struct frame *frame)
{
	for (unsigned i = 0; i < f->terms; i++)
		if (f->term[i].field != NUMBER &&
			frame_has(&f->term[i], frame) == f->term[i].negated)
			return false;
	return true;
}

bool filter_match_text(const struct filter *f, const char *text)
{
	for (unsigned i = 0; i < f->terms; i++)
		if (f->term[i].field != NUMBER && text_has(&f->term[i], text) == f->term[i].negated)
			return false;
	return true;
}

int filter_apply(const struct filter *f, const struct snapshot *snap, bool show_hidden,
	struct snapshot *out, struct snap_site **sites, size_t *capacity)
{
	size_t all = snap->nsites + snap->nmapped;

	if (all > *capacity || !*sites) {
		size_t more = all + all / 2 + 64;
		struct snap_site *grown = realloc(*sites, more * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*sites = grown;
		*capacity = more;
	}
	*out = *snap;
	out->sites = *sites;
	out->nsites = 0;
	for (size_t i = 0; i < snap->nsites; i++)
		if (filter_match(f, snap, &snap->sites[i], show_hidden))
			(*sites)[out->nsites++] = snap->sites[i];
	out->mapped = *sites + out->nsites;
	out->nmapped = 0;
	for (size_t i = 0; i < snap->nmapped; i++)
		if (filter_match(f, snap, &snap->mapped[i], show_hidden))
			(*sites)[out->nsites + out->nmapped++] = snap->mapped[i];
	return 0;
}
