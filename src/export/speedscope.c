/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedscope's JSON (https://www.speedscope.app/file-format-schema.json): the frames once, then one
 * sampled profile for each value. With --value there is only the one for that. A frame is a
 * function, so it has no line: speedscope would draw the calls of one function in two lines as two
 * functions.
 */
#include "src/export/formats.h"
#include "src/export/profile.h"
#include "src/export/writer.h"

static void frame_put(struct writer *w, const struct profile_frame *f)
{
	writer_object(w, NULL);
	writer_string(w, "name", f->name);
	if (f->frame && f->frame->file)
		writer_string(w, "file", f->frame->file);
	writer_end(w);
}

static void frames_put(struct writer *w, const struct profile *p)
{
	writer_object(w, "shared");
	writer_array(w, "frames");
	writer_lines(w);
	for (uint32_t i = 0; i < p->nframes; i++)
		frame_put(w, &p->frames[i]);
	writer_end(w);
	writer_end(w);
}

static void samples_put(struct writer *w, struct profile *p, size_t process, enum snap_value value)
{
	const struct snapshot *s = p->processes[process];

	for (size_t i = 0; i < s->nsites && !p->failed; i++) {
		const uint32_t *path;
		uint32_t len;

		if (profile_weight(s, &s->sites[i], value) <= 0)
			continue;
		path = profile_path(p, process, &s->sites[i], &len);
		writer_array(w, NULL);
		for (uint32_t n = 0; n < len; n++)
			writer_uint(w, NULL, path[n]);
		writer_end(w);
	}
}

/* The sum; `w` not NULL: writes each. */
static uint64_t weights_put(struct writer *w, const struct profile *p, enum snap_value value)
{
	uint64_t sum = 0;

	for (size_t n = 0; n < p->nprocesses; n++) {
		const struct snapshot *s = p->processes[n];

		for (size_t i = 0; i < s->nsites; i++) {
			int64_t weight = profile_weight(s, &s->sites[i], value);

			if (weight > 0 && w)
				writer_int(w, NULL, weight);
			sum += weight > 0 ? (uint64_t)weight : 0;
		}
	}
	return sum;
}

static void profile_put(struct writer *w, struct profile *p, enum snap_value value)
{
	writer_object(w, NULL);
	writer_lines(w);
	writer_string(w, "type", "sampled");
	writer_string(w, "name", value_table[value].title);
	writer_string(w, "unit", value_table[value].bytes ? "bytes" : "none");
	writer_uint(w, "startValue", 0);
	writer_uint(w, "endValue", weights_put(NULL, p, value));
	writer_array(w, "samples");
	writer_lines(w);
	for (size_t n = 0; n < p->nprocesses; n++)
		samples_put(w, p, n, value);
	writer_end(w);
	writer_array(w, "weights");
	weights_put(w, p, value);
	writer_end(w);
	writer_end(w);
}

/* Live bytes always, so that there is a profile, and what has any weight. */
static bool is_wanted(const struct profile *p, enum snap_value value)
{
	if (p->options->value_given || value == VALUE_OWN_PEAK)
		return value == p->options->value;
	return value == VALUE_LIVE || weights_put(NULL, p, value) > 0;
}

void export_speedscope(struct strbuf *out, const struct snapshot *s, const struct export_options *o)
{
	struct writer w = { .out = out };
	struct profile p;

	profile_open(&p, s, o, PROFILE_MODULE, NAMES_FULL);
	profile_number(&p);
	writer_object(&w, NULL);
	writer_lines(&w);
	writer_string(&w, "$schema", "https://www.speedscope.app/file-format-schema.json");
	writer_string(&w, "exporter", "heaptop " HEAPTOP_VERSION);
	writer_string(&w, "name", s->command);
	writer_uint(&w, "activeProfileIndex", 0);
	frames_put(&w, &p);
	writer_array(&w, "profiles");
	for (int v = 0; v < VALUE_COUNT; v++)
		if (is_wanted(&p, (enum snap_value)v))
			profile_put(&w, &p, (enum snap_value)v);
	writer_end(&w);
	writer_end(&w);
	strbuf_putc(out, '\n');
	out->failed |= p.failed;
	profile_free(&p);
}
