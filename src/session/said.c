/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program's notes through heaptop.h (said.h). */
#include "src/session/said.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/util/array.h"
#include "src/util/text.h"
#include "src/util/units.h"

struct hearing {
	struct said *said;
	struct marks *marks;
	const struct marks_of *of;
	uint64_t taken; /* notes up to this one are another viewer's to act on */
	bool is_copy; /* of a segment on another machine */
};

static struct said_thread *thread_of(struct said *s, uint32_t tid)
{
	for (size_t i = 0; i < s->threads; i++)
		if (s->thread[i].tid == tid)
			return &s->thread[i];
	return NULL;
}

static void thread_forget(struct said *s, size_t i)
{
	memmove(&s->thread[i], &s->thread[i + 1], (--s->threads - i) * sizeof(*s->thread));
}

/* NULL: out of memory. */
static struct said_thread *thread_add(struct said *s)
{
	struct said_thread *grown;

	if (s->threads == SAID_THREADS_MAX)
		thread_forget(s, 0);
	grown = array_grow(s->thread, s->threads, &s->room, sizeof(*grown));
	if (!grown)
		return NULL;
	s->thread = grown;
	return &grown[s->threads++];
}

static void thread_named(struct said *s, const struct read_note *n)
{
	struct said_thread *t = thread_of(s, n->tid);

	if (!t)
		t = thread_add(s);
	if (!t)
		return;
	*t = (struct said_thread){ .tid = n->tid };
	text_clean(t->name, sizeof(t->name), n->text, strlen(n->text));
}

static void note_serve(struct hearing *h, const struct read_note *n)
{
	char clean[SNAP_MARK_NAME], message[MARKS_MESSAGE_MAX];

	text_clean(clean, sizeof(clean), n->text, strlen(n->text));
	if (n->kind == HT_NOTE_MARK) {
		int number = marks_take(h->marks, h->of, clean, message);

		/* A viewer of a copy has no file of marks. */
		if (*message && (number < 0 || !h->is_copy))
			snprintf(h->said->unmarked, SAID_NOTICE_MAX,
				"the program's mark \"%.64s\": %s", clean, message);
	} else if (n->kind == HT_NOTE_SCAN) {
		h->said->scan = true;
	} else if (n->kind == HT_NOTE_SNAPSHOT) {
		h->said->snapshot = 2; /* this tick has already read the sites */
	}
}

/* Viewers share their marks through a file, which a viewer of a copy does not see. */
static bool is_ours(const struct hearing *h, const struct read_note *n)
{
	return n->number > h->taken || (h->is_copy && n->kind == HT_NOTE_MARK);
}

static void note_visit(void *ctx, const struct read_note *n)
{
	struct hearing *h = ctx;

	if (n->kind == HT_NOTE_THREAD)
		thread_named(h->said, n);
	else if (n->number > h->said->since && is_ours(h, n))
		note_serve(h, n);
}

void said_hear(struct said *s, struct marks *marks, const struct marks_of *of)
{
	struct hearing h = {
		.said = s, .marks = marks, .of = of, .is_copy = read_is_frozen(of->segment)
	};
	uint64_t notes = read_notes_count(of->segment), before = s->seen;
	bool late = !s->begun && (h.is_copy || !of->identity->family);
	ssize_t heard;

	/* What a program said before any viewer came is for none. One that a viewer has launched
	 * has always had one, but not a viewer of a copy. By number, as the clock of another
	 * machine is not ours. */
	if (late)
		s->since = notes;
	s->begun = true;
	if (notes <= s->seen)
		return;
	h.taken = read_notes_claim(of->segment, notes);
	heard = read_notes(of->segment, &s->seen, note_visit, &h);
	if (!late && heard >= 0)
		s->lost += s->seen - before - (uint64_t)heard;
}

const char *said_notice(struct said *s)
{
	if (s->lost == 0)
		return s->unmarked[0] ? s->unmarked : NULL;
	snprintf(s->notice, sizeof(s->notice),
		"%" PRIu64
		" note%s of the program through heaptop.h lost: more than %u between two "
		"refreshes",
		s->lost, units_plural(s->lost), HT_NOTES);
	return s->notice;
}

/* The thread of that number; if it was found before, only that very one. */
static struct snap_thread *thread_find(
	const struct said_thread *t, struct snap_thread *threads, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (threads[i].tid == t->tid &&
			(!t->found ||
				(threads[i].slot == t->slot && threads[i].owners == t->owners)))
			return &threads[i];
	return NULL;
}

void said_threads_name(struct said *s, struct snap_thread *threads, size_t count)
{
	for (size_t i = s->threads; i-- > 0;) {
		struct said_thread *t = &s->thread[i];
		struct snap_thread *of = thread_find(t, threads, count);

		if (of) {
			t->found = true;
			t->slot = of->slot;
			t->owners = of->owners;
			strcpy(of->name, t->name);
		} else if (t->found) {
			thread_forget(s, i);
		} /* else it has allocated nothing yet */
	}
}

void said_free(struct said *s)
{
	free(s->thread);
	s->thread = NULL;
	s->threads = s->room = 0;
}
