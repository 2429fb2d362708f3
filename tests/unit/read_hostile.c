/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Segments that someone, or something, has broken: every word of the header, random tables, files
 * cut off or shrunk while open. Readers refuse with one line, or give out something in bounds.
 */
#include <sys/stat.h>
#include "src/read/read.h"
#include "tests/unit/segment_fixture.h"

#define WORDS	  (sizeof(struct ht_header) / sizeof(uint64_t))
#define SITES_MAX 64u /* read from each hostile table */

static struct made made;

static void event_take(void *ctx, uint32_t thread, const struct ht_event *e)
{
	uint64_t *sum = ctx;

	*sum += thread + e->addr + e->size + e->tick + e->site + e->kind;
}

static void block_take(void *ctx, const struct read_block *b)
{
	uint64_t *sum = ctx;

	CHECK(b->addr > HT_KEY_CLAIMED && b->size < 1ull << HT_LIVE_SIZE_BITS &&
		b->tick < 2ull << HT_LIVE_TICK_BITS && b->site < HT_SITES_MAX &&
		b->slot < HT_SLOTS_MAX);
	*sum += b->addr;
}

static void look_at_stack(struct read_segment *r, uint32_t node)
{
	static struct read_frame frames[HT_DEPTH_MAX];
	uint32_t function = 0;
	ssize_t got = read_stack(r, node, frames, HT_DEPTH_MAX, &function);

	CHECK(got <= (ssize_t)HT_DEPTH_MAX && function <= HT_LEAF_FUNCTION);
	CHECK(ht_function_name(function) != NULL);
	for (ssize_t i = 0; i < got; i++) {
		struct read_module m;

		if (read_module(r, frames[i].module, &m) == 0)
			CHECK(memchr(m.path, '\0', sizeof(m.path)) != NULL);
	}
}

static void look_at_sites(struct read_segment *r, uint32_t used)
{
	static struct read_site sites[SITES_MAX];
	uint32_t capacity = (uint32_t)(made.s.bytes / sizeof(struct ht_site));
	ssize_t got = read_sites(r, 0, sites, SITES_MAX);
	struct ht_hist hist;

	CHECK(used <= capacity && got <= (ssize_t)SITES_MAX);
	for (ssize_t i = 0; i < got; i++) {
		look_at_stack(r, sites[i].node);
		read_hist(r, (uint32_t)i, &hist);
	}
	look_at_stack(r, UINT32_MAX);
}

static void look_at_wrong_frees(struct read_segment *r, uint32_t sites)
{
	static struct read_wrong_frees w;

	if (read_wrong_frees(r, sites, &w) != 0)
		return;
	CHECK(w.entries <= HT_WRONG_MOST);
	for (uint32_t i = 0; i < w.entries; i++)
		CHECK(w.entry[i].kind < HT_WRONG_KINDS && w.entry[i].site < sites &&
			w.entry[i].alloc_site < sites);
}

static void look_at_totals(struct read_segment *r)
{
	struct read_totals t;
	uint64_t sum = 0, lost = 0;

	if (read_totals(r, &t) != 0)
		return;
	CHECK(t.history.points <= HT_HISTORY_POINTS);
	CHECK((int64_t)t.live_bytes >= 0);
	look_at_sites(r, t.sites);
	look_at_wrong_frees(r, t.sites);
	read_events(r, event_take, &sum, &lost);
	read_events(r, event_take, &sum, &lost);
}

static void look_at_blocks(struct read_segment *r)
{
	uint64_t sum = 0;

	read_blocks(r, block_take, &sum);
}

/* Everything that a viewer does with a segment. True: it was opened. */
static bool look(void (*deeper)(struct read_segment *))
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_segment *r = read_open(made.path, message);
	static struct read_identity id;

	if (!r) {
		CHECK(strncmp(message, made.path, strlen(made.path)) == 0);
		CHECK(strlen(message) > strlen(made.path) + 2 && !strchr(message, '\n'));
		return false;
	}
	if (read_identity(r, &id) == 0) {
		CHECK(memchr(id.exe, '\0', sizeof(id.exe)) && memchr(id.why, '\0', sizeof(id.why)));
		CHECK(id.command_bytes < HT_COMMAND_MAX);
		CHECK(memchr(id.command, '\0', sizeof(id.command)) != NULL);
	}
	look_at_totals(r);
	if (deeper)
		deeper(r);
	read_close(r);
	return true;
}

static void made_again(void)
{
	made_open(&made, &fixture_identity);
	made_fill(&made);
}

/* Words that say where things are: with any other value the segment is refused. */
static bool is_structure(size_t word)
{
	size_t at = word * sizeof(uint64_t);

	return at < offsetof(struct ht_header, state) ||
	       (at >= offsetof(struct ht_header, region) &&
		       at < offsetof(struct ht_header, live_log2));
}

/* The long tables' far ends mean nothing in a small segment. */
static bool is_dull(size_t word)
{
	size_t committed = offsetof(struct ht_header, committed) / sizeof(uint64_t);
	size_t pieces = offsetof(struct ht_header, pieces) / sizeof(uint64_t);

	return word > committed + made.s.bytes / HT_COMMIT_BYTES / 64 + 1 && word != pieces;
}

TEST(every_word_of_the_header)
{
	static const uint64_t values[] = { 0, 1, UINT64_MAX, 1ull << 31, 1ull << 63,
		0x7fffffff7fffffffull, 0xffffffff00000000ull, 0xffffffffull, 65536 };
	uint64_t *words = (uint64_t *)(void *)made.s.header;

	for (size_t i = 0; i < WORDS && !check_failed_here; i++)
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]) && !is_dull(i); v++) {
			uint64_t kept = words[i];
			bool opened;

			words[i] = values[v];
			opened = look(NULL);
			if (is_structure(i) && values[v] != kept)
				CHECK(!opened);
			words[i] = kept;
			if (check_failed_here)
				fprintf(stderr, "  word %zu, value %#llx\n", i,
					(unsigned long long)values[v]);
		}
	CHECK(look(look_at_blocks));
}

/* One bit at a time in what lays out the file; the walk of the live table as well. */
TEST(every_bit_of_the_layout)
{
	uint64_t *words = (uint64_t *)(void *)made.s.header;
	size_t sizes = offsetof(struct ht_header, live_log2) / sizeof(uint64_t);

	for (size_t i = 0; i < sizes + 2; i++)
		for (unsigned bit = 0; bit < 64 && (is_structure(i) || i >= sizes); bit++) {
			words[i] ^= 1ull << bit;
			if (look(look_at_blocks))
				CHECK(!is_structure(i));
			words[i] ^= 1ull << bit;
		}
}

/* More live levels than there are, more threads, more of everything. */
TEST(absurd_counts)
{
	struct ht_header *h = made.s.header;
	struct ht_header kept = *h;

	h->live_levels = h->nodes = h->sites = h->modules = h->threads = UINT32_MAX;
	h->counters = h->hists = UINT32_MAX;
	h->strings_bytes = UINT32_MAX;
	h->history.points = UINT32_MAX;
	h->history.step_ns = 0;
	h->history.sequence = UINT64_MAX;
	h->command_bytes = UINT32_MAX;
	memset(h->command, 'x', sizeof(h->command));
	memset(h->exe, 'x', sizeof(h->exe));
	memset(h->why, 'x', sizeof(h->why));
	memset(h->committed, 0xff, sizeof(h->committed));
	CHECK(look(look_at_blocks));
	memcpy(h, &kept, sizeof(kept));
}

static void fill_random(void *at, uint64_t bytes, uint64_t *seed)
{
	uint64_t *words = at;

	for (uint64_t i = 0; i < bytes / sizeof(*words); i++) {
		words[i] = fixture_random(seed);
		/* Small numbers are the ones that get somewhere. */
		if (words[i] >> 62 == 0)
			words[i] &= 0xff000000ffull;
	}
}

/* The first two units of every table, which are those in use. */
TEST(random_tables)
{
	uint64_t seed = 0x1234567;

	for (unsigned round = 0; round < 40; round++) {
		for (int region = 0; region < HT_REGION_COUNT; region++) {
			uint64_t at = made.s.header->region[region].offset;

			if ((fixture_random(&seed) & 3) == 0)
				continue;
			CHECK_INT(commit_range(&made.s, at, HT_COMMIT_BYTES), 0);
			fill_random(segment_at(&made.s, at), HT_COMMIT_BYTES, &seed);
		}
		made.s.header->sites = made.s.header->counters = 1000;
		made.s.header->threads = 64;
		CHECK(look(round % 8 ? NULL : look_at_blocks));
	}
	made_close(&made);
	made_again();
}

/* Pieces of nonsense: tags, what they say of their pages, and entries. */
TEST(random_pieces)
{
	uint64_t seed = 0x7654321, sum = 0;
	char message[READ_MESSAGE_MAX];
	struct read_segment *r;
	struct made full;
	struct ht_piece *p;

	made_open_as(&full, SEGMENT_FULL, &fixture_identity);
	p = full.s.pieces;
	CHECK_INT(commit_pages(&full.s, (uint64_t)((char *)p - (char *)full.s.header), 1 << 20), 0);
	CHECK_INT(commit_pages(&full.s,
			  (uint64_t)((char *)p->first - (char *)full.s.header) + HT_PIECE_LINES * 8,
			  4096),
		0);
	CHECK_INT(commit_pages(
			  &full.s, (uint64_t)((char *)p->second - (char *)full.s.header), 1 << 20),
		0);
	r = read_open(full.path, message);
	CHECK(r != NULL);
	for (unsigned round = 0; r && round < 20; round++) {
		fill_random(p->first, 1 << 20, &seed);
		fill_random(p->first + HT_PIECE_LINES, 4096, &seed);
		fill_random(p->second, 1 << 20, &seed);
		fill_random(full.s.header->pieces, sizeof(full.s.header->pieces), &seed);
		CHECK(read_blocks(r, block_take, &sum) >= 0);
		full.s.header->pieces[0] =
			HT_PIECE_BYTES | HT_PIECE_USED | (round & 1 ? HT_PIECE_ODD : 0);
		CHECK(read_blocks(r, block_take, &sum) > 0);
	}
	read_close(r);
	made_close(&full);
}

static ssize_t stack_of(struct read_segment *r, uint32_t node)
{
	static struct read_frame frames[HT_DEPTH_MAX];
	uint32_t function;

	return read_stack(r, node, frames, HT_DEPTH_MAX, &function);
}

/* Chains that do not end: a node that is its own parent, two of each other, one pointing onwards.
 */
TEST(node_parents)
{
	uint32_t leaf = stack_site(&made.s, 3)->node;
	struct ht_node *n = stack_node(&made.s, leaf), kept = *n,
		       *p = stack_node(&made.s, n->parent);
	struct ht_node kept_parent = *p;
	static const uint32_t wrong[] = { 0, 1, 1000, 1u << 18, UINT32_MAX };

	for (size_t i = 0; i < 2 + sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct read_segment *r;
		char message[READ_MESSAGE_MAX];

		n->parent = i == 0 ? leaf : i == 1 ? kept.parent : leaf + wrong[i - 2];
		p->parent = i == 1 ? leaf : kept_parent.parent;
		if (i > 1 && n->parent < leaf)
			continue; /* wrapped: descends */
		r = read_open(made.path, message);
		CHECK(r != NULL);
		if (r)
			CHECK_INT(stack_of(r, leaf), -EINVAL);
		read_close(r);
	}
	*n = kept;
	*p = kept_parent;
	CHECK(look(NULL));
}

TEST(nodes_out_of_range)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	uint32_t capacity =
		(uint32_t)(made.s.header->region[HT_REGION_NODES].bytes / sizeof(struct ht_node));

	CHECK(r != NULL);
	if (!r)
		return;
	CHECK_INT(stack_of(r, 0), -EINVAL);
	CHECK_INT(stack_of(r, capacity - 1), -EINVAL); /* a hole: not written */
	CHECK_INT(stack_of(r, capacity), -EINVAL);
	CHECK_INT(stack_of(r, UINT32_MAX), -EINVAL);
	read_close(r);
}

/* What a broken counter may point to. -EINVAL, whichever it is; sites are summed all the same. */
static void counter_breaks(struct read_segment *r, uint32_t *word, uint32_t value)
{
	uint32_t kept = *word;
	struct ht_hist hist;
	struct read_site site;

	*word = value;
	CHECK_INT(read_hist(r, 1, &hist), -EINVAL);
	CHECK_INT(read_sites(r, 1, &site, 1), 1);
	CHECK_INT(site.allocs, MADE_BLOCKS);
	*word = kept;
}

TEST(chains_of_counters)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	struct ht_site *site = stack_site(&made.s, 1);
	struct ht_counter *c = counter_at(&made.s, site->counters);
	uint32_t counters = (uint32_t)segment_capacity(&made.s, HT_REGION_COUNTERS, sizeof(*c)),
		 hists = (uint32_t)segment_capacity(
			 &made.s, HT_REGION_HISTS, sizeof(struct ht_hist));
	struct ht_hist hist;

	CHECK(r != NULL);
	if (!r)
		return;
	counter_breaks(r, &c->next, site->counters); /* a circle */
	counter_breaks(r, &c->next, counters);
	counter_breaks(r, &site->counters, UINT32_MAX);
	counter_breaks(r, &site->shared, counters);
	counter_breaks(r, &c->hist, hists);
	c->key |= 0xffffull << 48; /* a size that is none */
	CHECK_INT(read_hist(r, 1, &hist), 0);
	made_close(&made);
	made_again();
	read_close(r);
}

/* Counters of sites that are not, or not in the window asked for. */
TEST(counters_of_no_site)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	static const uint32_t wrong[] = { 0, 1, 3, MADE_SITES, 1u << 24, UINT32_MAX };
	struct ht_counter *c = counter_at(&made.s, stack_site(&made.s, 2)->counters);
	uint64_t kept = c->key;
	struct read_site site;

	for (size_t i = 0; r && i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		c->key = ht_counter_key(wrong[i], 1, 0);
		CHECK_INT(read_sites(r, 2, &site, 1), 1);
		CHECK_INT(site.allocs, 0);
	}
	c->key = kept;
	read_close(r);
}

/* A frame whose module is none of the table's is in no module: callers use it as an index. */
TEST(modules_out_of_range)
{
	struct ht_node *n =
		stack_node(&made.s, stack_node(&made.s, stack_site(&made.s, 1)->node)->parent);
	uint32_t node = stack_site(&made.s, 1)->node, kept = n->module, function;
	uint32_t capacity = (uint32_t)(made.s.header->region[HT_REGION_MODULES].bytes /
				       sizeof(struct ht_module));
	const uint32_t wrong[] = { capacity, 0x7fffffff, UINT32_MAX };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char message[READ_MESSAGE_MAX];
		struct read_segment *r = read_open(made.path, message);
		struct read_frame frames[8];

		n->module = wrong[i];
		CHECK(r != NULL);
		if (r && read_stack(r, node, frames, 8, &function) == 2)
			CHECK_INT(frames[0].module, 0);
		else
			CHECK(!"a stack of two frames");
		read_close(r);
	}
	n->module = kept;
}

TEST(module_fields)
{
	static const uint32_t lengths[] = { HT_PATH_MAX, 1u << 20, UINT32_MAX };
	struct ht_module *m = module_at(&made.s, 2), kept = *m;
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	static struct read_module out;

	CHECK(r != NULL);
	for (size_t i = 0; r && i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		m->path_bytes = lengths[i];
		CHECK_INT(read_module(r, 2, &out), -EINVAL);
		*m = kept;
		m->build_id_bytes = lengths[i];
		CHECK_INT(read_module(r, 2, &out), -EINVAL);
		*m = kept;
		m->path = UINT32_MAX - (uint32_t)i;
		CHECK_INT(read_module(r, 2, &out), -EINVAL);
		CHECK_STR(out.path, "");
		*m = kept;
	}
	m->path_bytes = HT_PATH_MAX - 1;
	CHECK(r && read_module(r, 2, &out) == 0 && strlen(out.path) < HT_PATH_MAX);
	*m = kept;
	read_close(r);
}

/* Heads that jump, fall back, or are at the end of all numbers. */
TEST(ring_heads)
{
	static const uint64_t heads[] = { 0, 1, HT_RING_EVENTS, 1ull << 32, UINT64_MAX - 1,
		UINT64_MAX };
	struct ht_thread *t = thread_at(&made.s, 1);
	uint64_t kept = t->ring_head;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (size_t k = 0; k < sizeof(heads) / sizeof(heads[0]); k++) {
			char message[READ_MESSAGE_MAX];
			struct read_segment *r = read_open(made.path, message);
			struct read_totals totals;
			uint64_t sum = 0, lost = 0;

			CHECK(r && read_totals(r, &totals) == 0);
			if (!r)
				return;
			t->ring_head = heads[i];
			read_events(r, event_take, &sum, &lost);
			t->ring_head = heads[k];
			CHECK(read_events(r, event_take, &sum, &lost) <=
				3 * (ssize_t)HT_RING_EVENTS);
			read_close(r);
		}
	t->ring_head = kept;
}

/*
 * Cut shorter unit by unit: what is opened then is refused and says how much is there; what was
 * open before gives errors.
 */
TEST(cut_at_every_unit)
{
	char message[READ_MESSAGE_MAX], want[64];
	struct read_segment *before = read_open(made.path, message);
	uint64_t bytes = made.s.bytes;

	CHECK(before != NULL);
	for (uint64_t at = bytes - HT_COMMIT_BYTES; before && at > 0; at -= HT_COMMIT_BYTES) {
		struct read_segment *r;

		CHECK_INT(ftruncate(made.fd, (off_t)at), 0);
		r = read_open(made.path, message);
		CHECK(!r);
		read_close(r);
		snprintf(want, sizeof(want), "truncated: %llu of %llu bytes",
			(unsigned long long)at, (unsigned long long)bytes);
		CHECK(strstr(message, want) != NULL);
		look_at_totals(before);
		look_at_blocks(before);
	}
	CHECK_INT(ftruncate(made.fd, 4096), 0);
	CHECK(!read_open(made.path, message) && strstr(message, "not a heaptop segment"));
	read_close(before);
	made_close(&made);
	made_again();
}

/* Nothing left of a file that is open: every question is answered with an error. */
TEST(emptied_while_open)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	static struct read_identity id;
	struct read_totals t;
	struct read_module m;
	struct read_site site;
	struct ht_hist hist;
	uint64_t sum = 0, lost = 0;

	CHECK(r && read_totals(r, &t) == 0);
	CHECK_INT(ftruncate(made.fd, 0), 0);
	if (r) {
		CHECK_INT(read_identity(r, &id), -EIO);
		CHECK_INT(read_totals(r, &t), -EIO);
		CHECK_INT(read_sites(r, 0, &site, 1), -EIO);
		CHECK_INT(read_hist(r, 0, &hist), -EIO);
		CHECK_INT(read_module(r, 1, &m), -EIO);
		CHECK_INT(stack_of(r, 1), -EIO);
		CHECK_INT(read_events(r, event_take, &sum, &lost), -EIO);
		CHECK_INT(read_blocks(r, block_take, &sum), -EIO);
	}
	read_close(r);
	made_close(&made);
	made_again();
}

/* The file becomes another segment under us: its layout is not the one that was checked. */
TEST(changed_while_open)
{
	char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(made.path, message);
	static struct read_identity id;
	struct read_totals t;

	CHECK(r != NULL);
	made.s.header->region[HT_REGION_NODES].offset += HT_COMMIT_BYTES;
	CHECK(r && read_identity(r, &id) == -EPROTO && read_totals(r, &t) == -EPROTO);
	made.s.header->region[HT_REGION_NODES].offset -= HT_COMMIT_BYTES;
	CHECK(r && read_totals(r, &t) == 0);
	read_close(r);
}

static const char *refusal(const char *path)
{
	static char message[READ_MESSAGE_MAX];
	struct read_segment *r = read_open(path, message);

	CHECK(!r);
	read_close(r);
	return message;
}

TEST(not_segments)
{
	char link[80], longer[4096];

	CHECK_STR(refusal("/dev/null"), "/dev/null: not a regular file");
	CHECK_STR(refusal("/"), "/: not a regular file");
	CHECK_STR(refusal("/no/such"), "/no/such: No such file or directory");
	CHECK_STR(refusal("/proc/self/status"),
		"/proc/self/status: not a heaptop segment, recording or JSON report");
	CHECK_STR(refusal(""), ": No such file or directory");
	snprintf(link, sizeof(link), "%s.link", made.path);
	CHECK_INT(symlink(made.path, link), 0);
	CHECK(strstr(refusal(link), "is a symbolic link") != NULL);
	unlink(link);
	for (mode_t others = 2; others <= 020; others *= 8) {
		CHECK_INT(chmod(made.path, 0600 | others), 0);
		CHECK(strstr(refusal(made.path), "other users may write it") != NULL);
	}
	CHECK_INT(chmod(made.path, 0600), 0);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	CHECK(strstr(refusal(longer), ": File name too long") != NULL);
}

int main(void)
{
	made_again();
	RUN(every_word_of_the_header);
	RUN(every_bit_of_the_layout);
	RUN(absurd_counts);
	RUN(random_tables);
	RUN(random_pieces);
	RUN(node_parents);
	RUN(nodes_out_of_range);
	RUN(chains_of_counters);
	RUN(counters_of_no_site);
	RUN(modules_out_of_range);
	RUN(module_fields);
	RUN(ring_heads);
	RUN(cut_at_every_unit);
	RUN(emptied_while_open);
	RUN(changed_while_open);
	RUN(not_segments);
	made_close(&made);
	return check_end();
}
