/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sampling in the JSON report (sampled.h). Pure. */
#include "src/export/sampled.h"

void sampled_json(struct writer *w, const struct snap_sampling *s)
{
	writer_object(w, "sampling");
	writer_uint(w, "bytes", s->bytes);
	writer_array(w, "marks");
	for (unsigned i = 0; i < s->marks; i++) {
		writer_object(w, NULL);
		writer_uint(w, "ns", s->mark[i].ns);
		writer_uint(w, "bytes", s->mark[i].bytes);
		writer_end(w);
	}
	writer_end(w);
	if (s->measured) {
		writer_double(w, "measured_overhead", s->overhead);
		writer_double(w, "measured_pass_through", s->passing);
	} else {
		writer_null(w, "measured_overhead");
		writer_null(w, "measured_pass_through");
	}
	writer_end(w);
}
