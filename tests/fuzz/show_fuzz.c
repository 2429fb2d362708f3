/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fuzzing of what is shown of a broken segment (segment_changes.h): through a session, names and
 * all, to text, frame and JSON. The output must be whole characters, none of which moves a cursor
 * or turns text around.
 */
#include <signal.h>
#include <unistd.h>

#include "src/export/export.h"
#include "src/session/session.h"
#include "src/util/strbuf.h"
#include "src/util/text.h"
#include "tests/fuzz/segment_changes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static bool moves_something(uint32_t code)
{
	return (code < ' ' && code != '\n') || (code >= 0x7f && code < 0xa0) || code == 0x61c ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

static void must_be_clean(const struct strbuf *out)
{
	for (size_t at = 0; at < out->len;) {
		uint32_t code;
		size_t n = text_decode(out->data + at, out->len - at, &code);

		if (moves_something(code) || (n == 1 && code >= 0x80))
			abort();
		at += n;
	}
}

static void tell(const struct snapshot *s)
{
	const struct export_options o = { .sort = COL_LIVE, .version = "fuzz" };
	void (*const ways[])(struct strbuf *, const struct snapshot *,
		const struct export_options *) = { export_frame, export_text, export_json };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct strbuf out = { 0 };

		ways[i](&out, s, &o);
		must_be_clean(&out);
		strbuf_free(&out);
	}
}

static void show(struct session *session)
{
	for (int tick = 0; tick < 2; tick++) {
		struct snapshot *s = session_tick(session);

		if (!s)
			return;
		if (tick == 1)
			tell(s);
		snapshot_unref(s);
		session_names_finish(session, 10000000000ull);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	/* Whatever process it says it is of: this one. */
	const struct session_options o = { .pid = getpid() };
	char message[READ_MESSAGE_MAX];
	struct session *session = session_open(spoilt_make(data, bytes), &o, message);

	if (session)
		show(session);
	session_close(session);
	spoilt_mend();
	return 0;
}
