/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Limits of --fail-on (condition.h). Pure. */
#include "src/run/condition.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "src/model/columns.h"
#include "src/util/units.h"

#define NAME_CELLS 60

/* The value that the word of `len` bytes names, or -1. A program has only one peak. */
static int value_parse(const char *text, size_t len)
{
	char word[16];
	int value;

	snprintf(word, sizeof(word), "%.*s", (int)len, text);
	value = len < sizeof(word) ? value_find(word) : -1;
	if (value == VALUE_OWN_PEAK)
		return -1;
	return value == VALUE_PEAK ? VALUE_OWN_PEAK : value;
}

/* "64M", "5%", "1e6": 0 or -EINVAL. K, M, G, T are powers of 1024 for bytes, of 1000 for counts. */
static int limit_parse(const char *text, struct condition *c)
{
	static const char letters[] = "KMGT";
	double unit = value_table[c->value].bytes || c->any_value ? 1024 : 1000;
	const char *letter;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	c->limit = strtod(text, &end);
	c->percent = *end == '%';
	letter = *end ? strchr(letters, *end & ~0x20) : NULL;
	if (letter)
		c->limit *= pow(unit, (double)(letter - letters + 1));
	end += c->percent || letter;
	return *end || !isfinite(c->limit) || (c->percent && !c->growth) ? -EINVAL : 0;
}

int condition_parse(const char *text, struct condition *c)
{
	static const char site[] = "site-", growth[] = "growth";
	const char *above = strchr(text, '>'), *word = text;
	size_t len;
	int value;

	*c = (struct condition){ .text = text };
	if (!above)
		return -EINVAL;
	c->site = !strncmp(word, site, sizeof(site) - 1);
	word += c->site ? sizeof(site) - 1 : 0;
	len = (size_t)(above - word);
	c->growth = len >= sizeof(growth) - 1 &&
		    !strncmp(above - (sizeof(growth) - 1), growth, sizeof(growth) - 1);
	c->any_value = c->growth && len == sizeof(growth) - 1;
	len -= c->growth ? sizeof(growth) - 1 : 0;
	if (c->growth && !c->any_value && word[--len] != '-')
		return -EINVAL;
	value = c->any_value ? VALUE_LIVE : value_parse(word, len);
	if (value < 0)
		return -EINVAL;
	c->value = (enum snap_value)value;
	return limit_parse(above + 1, c);
}

/* ---- a program ---- */

/* The highest figure. */
struct found {
	const struct snapshot *of;
	const struct snap_site *site;
	uint64_t figure;
};

static void found_take(struct found *f, struct found other)
{
	if (!f->of || other.figure > f->figure)
		*f = other;
}

static void figures_take(struct found *f, const struct condition *c, const struct snapshot *s)
{
	if (!c->site)
		found_take(f, (struct found){ s, NULL, value_total(&s->totals, c->value) });
	for (size_t i = 0; c->site && i < s->nsites; i++)
		found_take(f, (struct found){ s, &s->sites[i], value_of(&s->sites[i], c->value) });
	for (size_t i = 0; i < s->nchildren; i++)
		figures_take(f, c, s->children[i]);
}

static const char *what(const struct condition *c)
{
	return c->value == VALUE_OWN_PEAK ? "peak bytes" : value_table[c->value].title;
}

/* " in f", or nothing. */
static const char *site_text(const struct snap_site *site, char *buf, size_t cap)
{
	const struct row_style style = { .site_cells = NAME_CELLS };
	char name[COLUMN_TEXT_MAX];

	buf[0] = '\0';
	if (site) {
		site_name(site, &style, name, sizeof(name));
		snprintf(buf, cap, " in %.*s", NAME_CELLS, name);
	}
	return buf;
}

bool condition_failed(const struct condition *c, const struct snapshot *s, char *line)
{
	struct found f = { 0 };
	char exact[UNITS_MAX + 8], site[NAME_CELLS + 8], process[32] = "";

	figures_take(&f, c, s);
	if (f.of && f.of != s)
		snprintf(process, sizeof(process), ", process %d", (int)f.of->pid);
	snprintf(line, CONDITION_LINE_MAX, "%s: %s %s%s%s", c->text, units_exact(exact, f.figure),
		what(c), site_text(f.site, site, sizeof(site)), process);
	return (double)f.figure > c->limit;
}

/* ---- a diff ---- */

/* How far above the limit a change is: 1 and less is not. */
static double above(const struct condition *c, const struct diff_change *change, enum snap_value v)
{
	double grown = change->b > change->a ? (double)(change->b - change->a) : 0;
	double floor = value_table[v].bytes ? DIFF_FLOOR_BYTES : DIFF_FLOOR_COUNT;
	double limit = c->percent ? c->limit / 100 * (double)change->a : c->limit;

	if (!change->real || grown <= 0 || (c->percent && c->site && grown < floor))
		return 0;
	return grown > limit ? grown : 0;
}

static void growth_text(const struct condition *c, const struct diff_change *change,
	enum snap_value v, const struct snap_site *site, char *line)
{
	char exact[UNITS_MAX + 8], name[NAME_CELLS + 8], percent[32] = "";
	uint64_t by = change->b > change->a ? change->b - change->a : change->a - change->b;

	if (change->a)
		snprintf(percent, sizeof(percent), " (%+.1f%%)",
			((double)change->b - (double)change->a) * 100 / (double)change->a);
	snprintf(line, CONDITION_LINE_MAX, "%s: %c%s %s%s%s%s", c->text,
		change->b < change->a ? '-' : '+', units_exact(exact, by),
		v == VALUE_OWN_PEAK ? "peak bytes" : value_table[v].title, percent,
		site_text(site, name, sizeof(name)), change->real || !by ? "" : ", within chance");
}

bool condition_failed_diff(const struct condition *c, const struct diff *d, char *line)
{
	enum snap_value v = c->any_value ? d->value : c->value;
	const struct diff_row *worst = NULL;
	double most = 0;

	if (!c->site) {
		growth_text(c, &d->total[v], v, NULL, line);
		return above(c, &d->total[v], v) > 0;
	}
	for (size_t i = 0; i < d->nrows; i++) {
		double by = above(c, &d->rows[i].change[v], v);

		if (by > most) {
			most = by;
			worst = &d->rows[i];
		}
	}
	if (worst)
		growth_text(c, &worst->change[v], v, worst->b ? worst->b : worst->a, line);
	else
		snprintf(line, CONDITION_LINE_MAX, "%s: no call site", c->text);
	return worst != NULL;
}
