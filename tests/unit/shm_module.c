/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of shm/module: identity of modules, what is kept of them, and full tables. */
#include "tests/unit/shm_fixture.h"

#include "shm/module.h"

static const uint8_t id[40] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40 };

static struct module_info info(uint64_t i)
{
	return (struct module_info){ .start = 0x400000 + (i << 20),
		.end = 0x480000 + (i << 20),
		.bias = i << 20,
		.path = "/usr/lib/libfoo.so.1",
		.build_id = id,
		.build_id_bytes = 20 };
}

static const char *path(const struct segment *s, const struct ht_module *m)
{
	return segment_at(s, s->header->region[HT_REGION_STRINGS].offset + m->path);
}

TEST(kept)
{
	struct fixture f;
	struct module_info m = info(1);
	const struct ht_module *e;
	uint32_t index;

	fixture_open(&f, SEGMENT_SMALL);
	f.s.header->clock_ns = 777;
	m.flags = HT_MODULE_PINNED;
	index = module_intern(&f.s, &m);
	CHECK_INT(index, 1);
	CHECK_INT(f.s.header->modules, 2);
	e = module_at(&f.s, index);
	CHECK_INT(e->start, m.start);
	CHECK_INT(e->end, m.end);
	CHECK_INT(e->bias, m.bias);
	CHECK_INT(e->seen_ns, 777);
	CHECK_INT(e->flags, HT_MODULE_READY | HT_MODULE_PINNED);
	CHECK_INT(e->build_id_bytes, 20);
	CHECK(memcmp(e->build_id, id, 20) == 0);
	CHECK_STR(path(&f.s, e), m.path);
	CHECK_INT(e->path_bytes, strlen(m.path));
	CHECK_INT(module_intern(&f.s, &m), index);
	CHECK_INT(f.s.header->modules, 2);
	fixture_close(&f);
}

/* A signal handler left the thread that claimed the entry, before it was filled, or half. */
TEST(a_claim_was_left)
{
	struct fixture f;
	struct module_info m = info(1);
	struct ht_module *e, whole;

	for (int stage = 0; stage < 4; stage++) {
		fixture_open(&f, SEGMENT_SMALL);
		CHECK_INT(module_intern(&f.s, &m), 1);
		e = module_at(&f.s, 1);
		whole = *e;
		*e = (struct ht_module){ .key = whole.key,
			.path = stage > 0 ? whole.path : 0,
			.start = stage > 1 ? whole.start : 0,
			.flags = stage > 2 ? whole.flags : 0 };
		if (stage > 2)
			*e = whole; /* all but the count */
		f.s.header->modules = 1;
		CHECK_INT(module_intern(&f.s, &m), 1);
		CHECK_INT(f.s.header->modules, 2);
		CHECK_INT(e->flags, whole.flags);
		CHECK_INT(e->end, whole.end);
		CHECK_INT(e->build_id_bytes, whole.build_id_bytes);
		CHECK_INT(e->path_bytes, whole.path_bytes);
		CHECK_STR(path(&f.s, e), m.path);
		fixture_close(&f);
	}
}

/* The same range with another file, another build or another place is another module. */
TEST(identity)
{
	struct fixture f;
	struct module_info variants[6];
	uint32_t index[6];

	fixture_open(&f, SEGMENT_SMALL);
	for (int i = 0; i < 6; i++)
		variants[i] = info(1);
	variants[1].path = "/usr/lib/libfoo.so.2";
	variants[2].build_id = id + 1;
	variants[3].start += 4096;
	variants[4].end += 4096;
	variants[5].bias += 4096;
	for (int i = 0; i < 6; i++)
		index[i] = module_intern(&f.s, &variants[i]);
	for (int i = 0; i < 6; i++) {
		CHECK_INT(index[i], i + 1);
		CHECK_INT(module_intern(&f.s, &variants[i]), index[i]);
	}
	fixture_close(&f);
}

TEST(odd_values)
{
	struct fixture f;
	static char longest[3 * HT_PATH_MAX];
	struct module_info m = info(1);
	const struct ht_module *e;

	fixture_open(&f, SEGMENT_SMALL);
	m.path = "";
	m.build_id = NULL;
	m.build_id_bytes = 0;
	e = module_at(&f.s, module_intern(&f.s, &m));
	CHECK_INT(e->path_bytes, 0);
	CHECK_STR(path(&f.s, e), "");
	CHECK_INT(e->build_id_bytes, 0);
	memset(longest, 'x', sizeof(longest) - 1);
	m.path = longest;
	e = module_at(&f.s, module_intern(&f.s, &m));
	CHECK_INT(e->path_bytes, HT_PATH_MAX - 1);
	CHECK_INT(strlen(path(&f.s, e)), HT_PATH_MAX - 1);
	/* more id than there is room for: what follows the array must stay */
	m.build_id = id;
	m.build_id_bytes = sizeof(id);
	e = module_at(&f.s, module_intern(&f.s, &m));
	CHECK_INT(e->build_id_bytes, HT_BUILD_ID_MAX);
	CHECK(memcmp(e->build_id, id, HT_BUILD_ID_MAX) == 0);
	CHECK_INT(e->reserved[0], 0);
	fixture_close(&f);
}

TEST(modules_full)
{
	struct fixture f;
	uint32_t limit, bad = 0;
	struct module_info m;

	fixture_open(&f, SEGMENT_SMALL);
	limit = (uint32_t)(f.s.header->region[HT_REGION_MODULES].bytes / sizeof(struct ht_module));
	for (uint32_t i = 1; i < limit; i++) {
		m = info(i);
		bad += module_intern(&f.s, &m) != i;
	}
	for (uint32_t i = 0; i < 10; i++) {
		m = info(limit + i);
		bad += module_intern(&f.s, &m) != 0;
	}
	for (uint32_t i = 1; i < limit; i++) {
		m = info(i);
		bad += module_intern(&f.s, &m) != i;
		bad += module_at(&f.s, i)->start != m.start;
	}
	CHECK_INT(bad, 0);
	CHECK_INT(f.s.header->modules_refused, 10);
	CHECK_INT(f.s.header->modules, limit);
	fixture_close(&f);
}

TEST(strings_full)
{
	struct fixture f;
	static char text[1000];
	uint32_t with = 0, without = 0, torn = 0, limit;

	fixture_open(&f, SEGMENT_SMALL);
	memset(text, 'p', sizeof(text) - 1);
	limit = (uint32_t)(f.s.header->region[HT_REGION_STRINGS].bytes / sizeof(text));
	for (uint32_t i = 1; i < limit + 20; i++) {
		struct module_info m = info(i);
		const struct ht_module *e;

		text[0] = (char)('a' + i % 26);
		m.path = text;
		e = module_at(&f.s, module_intern(&f.s, &m));
		if (e->path == 0)
			without++;
		else
			with++;
		torn += e->path ? strcmp(path(&f.s, e), text) != 0 : e->path_bytes != 0;
	}
	CHECK_INT(with, limit);
	CHECK_INT(without, 19);
	CHECK_INT(torn, 0);
	CHECK(f.s.header->strings_bytes <= f.s.header->region[HT_REGION_STRINGS].bytes);
	fixture_close(&f);
}

int main(void)
{
	RUN(kept);
	RUN(a_claim_was_left);
	RUN(identity);
	RUN(odd_values);
	RUN(modules_full);
	RUN(strings_full);
	return check_end();
}
