/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small recordings that would take very much memory: they take little, and what fits is shown. */
#include <endian.h>
#include <sys/resource.h>
#include "src/record/recording_store.h"
#include "tests/unit/record_file_fixture.h"

#define MB (1L << 10) /* in KiB */

/* The most memory that this process has had, in KiB. */
static long peak_kb(void)
{
	struct rusage u;

	CHECK_INT(getrusage(RUSAGE_SELF, &u), 0);
	return u.ru_maxrss;
}

/* Checks that no more than `most` KiB were taken since `before`. */
static void check_peak(long before, long most)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CHECK(peak_kb() - before < most);
	if (peak_kb() - before >= most)
		fprintf(stderr, "%ld KiB\n", peak_kb() - before);
#else
	(void)before;
	(void)most;
#endif
}

/* ---- files ---- */

static void zeros(struct bytes *b, size_t n)
{
	CHECK(bytes_room(b, n));
	memset(b->data + b->len, 0, n);
	b->len += n;
}

/* Packs and appends a payload, which becomes empty. A skippable frame makes it as long as if zstd
 * had gained no more than it gains of text. */
static void block_add(struct bytes *file, enum block_kind kind, uint32_t stream, struct bytes *raw)
{
	uint32_t pad = (uint32_t)(raw->len / 2000 + 16), head[2] = { htole32(0x184d2a50) };
	struct bytes packed = { 0 };

	CHECK_INT(block_pack(&packed, raw), 0);
	if (packed.len < pad) {
		pad -= (uint32_t)packed.len;
		head[1] = htole32(pad);
		bytes_add(&packed, head, sizeof(head));
		zeros(&packed, pad);
	}
	block_put(file, kind, stream, NULL, packed.data, packed.len);
	bytes_free(&packed);
	raw->len = 0;
}

static void stream_put(struct bytes *file, uint32_t stream)
{
	struct snapshot s = { .pid = 1, .command = "x", .exe = "x" };
	struct bytes who = { 0 };

	image_identity_put(&who, &s);
	block_put(file, BLOCK_STREAM, stream, NULL, who.data, who.len);
	bytes_free(&who);
}

static void file_begin(struct bytes *file)
{
	*file = (struct bytes){ 0 };
	recording_put_magic(file, "1");
	stream_put(file, 0);
}

/* Ends with a tick of sites with the ids from 0, and saves the file. */
static void file_end(struct bytes *file, uint32_t nsites)
{
	struct snap_site *sites = calloc(nsites + 1, sizeof(*sites));
	struct snapshot s = { .uptime_ns = S_NS, .state = SNAP_RUNNING };
	struct tick_writer w = { 0 };

	for (uint32_t i = 0; i < nsites; i++)
		sites[i] = (struct snap_site){
			.id = i, .allocs = 1, .live_blocks = 1, .alloc_bytes = 8, .live_bytes = 8
		};
	s.sites = sites;
	s.nsites = nsites;
	CHECK_INT(tick_writer_add(&w, 0, &s, file), 0);
	tick_writer_free(&w);
	free(sites);
	file_save(path, (char *)file->data, file->len);
	bytes_free(file);
}

/* Reads it all. Returns the last snapshot. */
static struct snapshot *file_read(struct recording **r)
{
	struct snapshot *s;

	*r = reopen(path);
	s = *r ? recording_last(*r, 0) : NULL;
	CHECK(s != NULL);
	return s;
}

static void file_close(struct recording *r, struct snapshot *s)
{
	snapshot_unref(s);
	recording_free(r);
}

/* A STACKS payload from its modules on: one, one place, one node and one site, all unnamed. */
static void one_stack(struct bytes *raw)
{
	static const uint8_t stack[] = { 1, 0, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 2, 0 };

	bytes_add(raw, stack, sizeof(stack));
}

/* ---- what comes once ---- */

TEST(empty_texts_take_a_pointer_each)
{
	const size_t count = 4 << 20;
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;
	long before;

	file_begin(&file);
	bytes_number(&raw, count);
	zeros(&raw, count);
	one_stack(&raw);
	block_add(&file, BLOCK_STACKS, 0, &raw);
	bytes_free(&raw);
	file_end(&file, 1);
	before = peak_kb();
	s = file_read(&r);
	check_peak(before, 64 * MB);
	CHECK(!recording_notice(r) || !strstr(recording_notice(r), "damaged"));
	CHECK(s && s->nsites == 1 && s->sites[0].stack && s->sites[0].stack->nframes == 1);
	file_close(r, s);
}

/* Each text of 32 KB takes some bytes of the file. */
TEST(long_payloads_are_bounded_by_the_file)
{
	enum { BLOCKS = 50, TEXTS = 128, LENGTH = 32 << 10 };
	char *text = memset(calloc(1, LENGTH + 1), 'x', LENGTH);
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;
	long before;

	file_begin(&file);
	for (unsigned i = 0; i < BLOCKS; i++) {
		bytes_number(&raw, TEXTS);
		for (unsigned k = 0; k < TEXTS; k++)
			bytes_add_text(&raw, text);
		one_stack(&raw);
		block_add(&file, BLOCK_STACKS, 0, &raw);
	}
	bytes_free(&raw);
	free(text);
	file_end(&file, 1);
	before = peak_kb();
	s = file_read(&r);
	check_peak(before, 80 * MB);
	CHECK(recording_notice(r) && strstr(recording_notice(r), "damaged"));
	CHECK(s && s->nsites == 1 && s->sites[0].stack && s->sites[0].stack->nframes == 1);
	file_close(r, s);
}

/* More than a million in a small file, which no program has. */
TEST(modules_are_bounded_by_the_file)
{
	const size_t count = 4 << 20;
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;
	long before;

	file_begin(&file);
	zeros(&raw, 1);
	one_stack(&raw);
	block_add(&file, BLOCK_STACKS, 0, &raw);
	zeros(&raw, 1);
	bytes_number(&raw, count);
	zeros(&raw, 2 * count + 3);
	block_add(&file, BLOCK_STACKS, 0, &raw);
	bytes_free(&raw);
	file_end(&file, 1);
	before = peak_kb();
	s = file_read(&r);
	check_peak(before, 32 * MB);
	CHECK(recording_notice(r) && strstr(recording_notice(r), "damaged"));
	CHECK(s && s->nsites == 1 && s->sites[0].stack && s->sites[0].stack->nframes == 1);
	file_close(r, s);
}

/* ---- call stacks ---- */

/* Appends a site, whose id and leaf are so much more than those of the one before. */
static void site_put(struct bytes *raw, uint32_t id, uint32_t leaf)
{
	bytes_change(raw, id);
	bytes_number(raw, 0);
	bytes_change(raw, leaf);
	bytes_number(raw, 0);
}

/* Appends `count` sites with the ids from 0; each has the leaf after that of the one before, or all
 * have the same. The first one has `leaf`. */
static void sites_put(struct bytes *raw, uint32_t count, uint32_t leaf, bool leaves)
{
	bytes_number(raw, count);
	for (uint32_t i = 0; i < count; i++)
		site_put(raw, i > 0, i == 0 ? leaf : leaves);
}

/* No texts, one module and one place. */
static void place_put(struct bytes *raw)
{
	static const uint8_t place[] = { 0, 1, 0, 0, 1, 1, 0x10, 0, 0 };

	bytes_add(raw, place, sizeof(place));
}

/* Names that make the place `count` frames, of which the last one has the address. */
static void names_put(struct bytes *raw, uint32_t count)
{
	static const uint8_t one_place[] = { 0, 1, 1 };

	bytes_add(raw, one_place, sizeof(one_place));
	bytes_number(raw, count);
	zeros(raw, 5 * (size_t)count);
}

TEST(very_long_stacks_of_many_sites_become_short)
{
	enum { SITES = 1000, FRAMES = 65535 };
	static const uint8_t one_node[] = { 1, 0, 1 };
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;
	long before;

	file_begin(&file);
	place_put(&raw);
	bytes_add(&raw, one_node, sizeof(one_node));
	sites_put(&raw, SITES, 1, false);
	block_add(&file, BLOCK_STACKS, 0, &raw);
	names_put(&raw, FRAMES);
	block_add(&file, BLOCK_NAMES, 0, &raw);
	bytes_free(&raw);
	file_end(&file, SITES);
	before = peak_kb();
	s = file_read(&r);
	check_peak(before, 100 * MB);
	CHECK_INT(s ? s->nsites : 0, SITES);
	for (size_t i = 0, whole = 0; s && i < SITES; i++) {
		const struct stack *k = s->sites[i].stack;

		whole += k && k->nframes == FRAMES;
		CHECK(k && k->truncated == (k->nframes != FRAMES));
		CHECK(k && (k->nframes == FRAMES || k->nframes == 1));
		CHECK(k && snapshot_frame(k, k->nframes - 1)->pc == 0x10);
		CHECK(i > 0 || whole == 1);
	}
	file_close(r, s);
}

/* A recursion that is recorded 1,024 frames deep. */
TEST(deep_stacks_of_many_sites_stay_whole)
{
	enum { SITES = 10000, DEPTH = 1023 };
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;

	file_begin(&file);
	place_put(&raw);
	bytes_number(&raw, DEPTH + SITES);
	for (uint32_t i = 0; i < DEPTH + SITES; i++) {
		bytes_number(&raw, i == 0 ? 0 : i < DEPTH ? 1 : i - DEPTH + 1);
		bytes_number(&raw, 1);
	}
	sites_put(&raw, SITES, DEPTH + 1, true);
	block_add(&file, BLOCK_STACKS, 0, &raw);
	bytes_free(&raw);
	file_end(&file, SITES);
	s = file_read(&r);
	CHECK_INT(s ? s->nsites : 0, SITES);
	for (size_t i = 0; s && i < SITES; i++) {
		CHECK_INT(s->sites[i].stack->nframes, DEPTH + 1);
		CHECK(!s->sites[i].stack->truncated);
	}
	file_close(r, s);
}

/* Each process image has two sites, with ids far apart. */
TEST(ids_far_apart_take_little)
{
	enum { STREAMS = 20 };
	static const uint8_t one_node[] = { 1, 0, 1, 2 };
	struct bytes file, raw = { 0 };
	struct recording *r;
	struct snapshot *s;
	long before;

	file_begin(&file);
	for (uint32_t i = 0; i < STREAMS; i++) {
		stream_put(&file, i);
		place_put(&raw);
		bytes_add(&raw, one_node, sizeof(one_node));
		site_put(&raw, STATE_SITES_MAX / 2 - 1, 1);
		site_put(&raw, STATE_SITES_MAX / 2, 0);
		block_add(&file, BLOCK_STACKS, i, &raw);
	}
	bytes_free(&raw);
	file_end(&file, 0);
	before = peak_kb();
	s = file_read(&r);
	check_peak(before, 16 * MB);
	file_close(r, s);
}

int main(void)
{
	folder_make();
	RUN(ids_far_apart_take_little);
	RUN(empty_texts_take_a_pointer_each);
	RUN(modules_are_bounded_by_the_file);
	RUN(long_payloads_are_bounded_by_the_file);
	RUN(deep_stacks_of_many_sites_stay_whole);
	RUN(very_long_stacks_of_many_sites_become_short);
	folder_remove();
	return check_end();
}
