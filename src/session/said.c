/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program says of itself (said.h). */
#include "src/session/said.h"

#include <string.h>

#include "src/util/clock.h"
#include "src/util/text.h"

struct hearing {
	struct said *said;
	struct marks *marks;
	const struct marks_of *of;
	uint64_t taken; /* notes up to this one are another viewer's to act on */
};

static void thread_named(struct said *s, const struct read_note *n)
{
	unsigned i = 0;

	while (i < s->threads && s->thread[i].tid != n->tid)
		i++;
	if (i == SAID_THREADS_MAX)
		return;
	s->threads += i == s->threads;
	s->thread[i].tid = n->tid;
	text_clean(s->thread[i].name, sizeof(s->thread[i].name), n->text, strlen(n->text));
}

static void note_serve(struct hearing *h, const struct read_note *n)
{
	char clean[SNAP_MARK_NAME], message[MARKS_MESSAGE_MAX];

	text_clean(clean, sizeof(clean), n->text, strlen(n->text));
	if (n->kind == HT_NOTE_MARK)
		(void)marks_take(h->marks, h->of, clean, message);
	else if (n->kind == HT_NOTE_SCAN)
		h->said->scan = true;
	else if (n->kind == HT_NOTE_SNAPSHOT)
		h->said->snapshot = 2; /* this tick has already read the sites */
}

static void note_visit(void *ctx, const struct read_note *n)
{
	struct hearing *h = ctx;

	if (n->kind == HT_NOTE_THREAD)
		thread_named(h->said, n);
	else if (n->ns >= h->said->since_ns && n->number > h->taken)
		note_serve(h, n);
}

void said_hear(struct said *s, struct marks *marks, const struct marks_of *of)
{
	struct hearing h = { .said = s, .marks = marks, .of = of };
	uint64_t notes = read_notes_count(of->segment);

	/* What a program said before any viewer came is for none. One that a viewer has launched
	 * has always had one. */
	if (s->since_ns == 0)
		s->since_ns = of->identity->family ? 1 : clock_monotonic_ns();
	if (notes <= s->seen)
		return;
	h.taken = read_notes_claim(of->segment, notes);
	(void)read_notes(of->segment, &s->seen, note_visit, &h);
}

void said_threads_name(const struct said *s, struct snap_thread *threads, size_t count)
{
	for (unsigned i = 0; i < s->threads; i++)
		for (size_t j = 0; j < count; j++)
			if (threads[j].tid == s->thread[i].tid)
				strcpy(threads[j].name, s->thread[i].name);
}
