/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of shm/ without enough memory: a full tmpfs (in a mount namespace of our own, as root) and
 * resource limits. Everything must end in an error code; a signal kills the child and is a failure.
 */
#include "tests/unit/shm_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "shm/counter.h"
#include "shm/history.h"
#include "shm/live_direct.h"
#include "shm/live_overflow.h"
#include "shm/live.h"
#include "shm/mapping.h"
#include "shm/module.h"
#include "shm/ring.h"
#include "shm/stack.h"

#define PLACE "/tmp"

static int own_mounts(void)
{
	if (unshare(CLONE_NEWNS) != 0)
		return -errno;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 ? 0 : -errno;
}

/* A file on a fresh tmpfs of this size. */
static int file_on(const char *size)
{
	char options[64];

	snprintf(options, sizeof(options), "size=%s", size);
	CHECK_INT(mount("t", PLACE, "tmpfs", 0, options), 0);
	return open(PLACE "/segment", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

static bool can_mount(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(own_mounts() == 0 && mount("t", PLACE, "tmpfs", 0, "size=64k") == 0 ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static const char *on_size;
static int on_want;

static void create_refused(void)
{
	struct segment s = { 0 };
	int fd;

	CHECK_INT(own_mounts(), 0);
	fd = file_on(on_size);
	CHECK_INT(segment_create(&s, fd, SEGMENT_SMALL, &fixture_identity), on_want);
	CHECK(s.header == NULL);
	CHECK(ftruncate(fd, 0) == 0);
	CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), on_want);
	CHECK(s.header == NULL);
	close(fd);
}

TEST(no_room_to_start)
{
	static const char *const sizes[] = { "4k", "32k", "64k", "128k", "256k", "384k", "448k" };

	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	on_want = -ENOSPC;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		on_size = sizes[i];
		fixture_in_child(create_refused);
	}
}

static struct fixture on_tmpfs(const char *size)
{
	struct fixture f = { 0 };

	CHECK_INT(own_mounts(), 0);
	f.fd = file_on(size);
	CHECK_INT(segment_create(&f.s, f.fd, SEGMENT_FULL, &fixture_identity), 0);
	return f;
}

static void commit_until_full(void)
{
	struct fixture f = on_tmpfs(on_size);
	uint64_t taken = 0, at = f.s.header->region[HT_REGION_LIVE].offset;

	while (commit_range(&f.s, at, 1) == 0) {
		memset(segment_at(&f.s, at), 0xaa, HT_COMMIT_BYTES);
		at += HT_COMMIT_BYTES;
		taken++;
	}
	CHECK(taken > 0);
	CHECK_INT(commit_range(&f.s, at, 1), -ENOMEM);
	CHECK_INT(commit_range(&f.s, at - 1, 2), -ENOMEM); /* one unit there, one not */
	CHECK(!commit_has(&f.s, at));
	CHECK_INT(f.s.header->commit_failed, 3);
	/* Once there is memory again, it is used. */
	CHECK_INT(mount("t", PLACE, "tmpfs", MS_REMOUNT, "size=8m"), 0);
	CHECK_INT(commit_range(&f.s, at, 1), 0);
	memset(segment_at(&f.s, at), 0xaa, HT_COMMIT_BYTES);
}

TEST(commit_fails_cleanly)
{
	static const char *const sizes[] = { "640k", "1m", "1000k", "4m" };

	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		on_size = sizes[i];
		fixture_in_child(commit_until_full);
	}
}

/* Blocks of 0 to 48 bytes, 64 apart. */
static struct live_block block(uint64_t i)
{
	return (struct live_block){ .size = i % 49, .counter = (uint32_t)(i & 0xffff) };
}

static uint64_t address(uint64_t i)
{
	return 0x10000 + i * 64;
}

static uint64_t blocks_in(const struct segment *s)
{
	struct live_overflow_probe p;

	live_overflow_probe_length(s, &p);
	CHECK_INT(p.overflow, p.buckets_passed);
	return p.blocks + live_direct_count(s);
}

/* Insert all that goes in; what was refused is not there, what was taken is, to the last byte. */
static void live_until_full(void)
{
	enum { BLOCKS = 600000 };
	static bool in[BLOCKS];
	struct fixture f = on_tmpfs("4m");
	struct live_block b, old[LIVE_MISSED_MAX];
	uint64_t held = 0, bad = 0;

	for (uint64_t i = 0; i < BLOCKS; i++) {
		unsigned rc;

		b = block(i);
		rc = live_insert(&f.s, address(i), &b, old);
		bad += rc != 0 && rc != LIVE_REFUSED;
		in[i] = rc == 0;
		held += rc == 0;
	}
	CHECK(held > 150000 && held < BLOCKS);
	CHECK(live_direct_count(&f.s) > 100000);
	CHECK(live_direct_count(&f.s) < held);
	CHECK_INT(blocks_in(&f.s), held);
	for (uint64_t i = 0; i < BLOCKS; i++) {
		bool there = live_remove(&f.s, address(i), &b);

		bad += there != in[i] || (there && b.size != i % 49);
	}
	CHECK_INT(blocks_in(&f.s), 0);
	CHECK_INT(bad, 0);
}

TEST(live_without_memory)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(live_until_full);
}

static uint32_t intern(const struct segment *s, uint64_t seed, uint32_t count)
{
	static uint64_t pcs[64];
	static uint32_t modules[64];
	struct stack_trace t = { HT_FN_MALLOC, count, false, pcs, modules, NULL, 0 };

	for (uint32_t i = 0; i < count; i++) {
		pcs[i] = seed << 12 | i;
		modules[i] = 1;
	}
	return stack_intern(s, &t);
}

/* The same; 0 unless the stack has a site of its own. */
static uint32_t intern_own(const struct segment *s, uint64_t seed, uint32_t count)
{
	uint32_t site = intern(s, seed, count);

	return stack_site(s, site)->flags & HT_SITE_ANCESTOR ? 0 : site;
}

/* Stacks that cannot be kept are counted at their ancestors, whose sites have counters of their own
 * even then, and use no indices up: the tables' room is for the time when there is memory again. */
static void stacks_until_full(void)
{
	struct fixture f = on_tmpfs("3m");
	uint64_t known = 0, seed = 0, refused;
	uint32_t nodes, sites, bad = 0;

	while (known < 1000000 && intern_own(&f.s, known, 40) != 0)
		known++;
	CHECK(known > 10);
	for (seed = known; seed < known + 200; seed++)
		CHECK(counter_claim(&f.s, intern(&f.s, seed, 40), 0) != 0);
	CHECK_INT(f.s.header->counters_refused, 0);
	nodes = f.s.header->nodes;
	sites = f.s.header->sites;
	refused = f.s.header->nodes_refused + f.s.header->sites_refused;
	CHECK(refused > 0);
	for (; seed < known + 5000; seed++)
		intern(&f.s, seed, 40);
	CHECK_INT(f.s.header->nodes_refused + f.s.header->sites_refused, refused + 4800);
	CHECK(f.s.header->nodes - nodes < 1000);
	CHECK(f.s.header->sites - sites < 100);
	for (uint64_t i = 0; i < known; i++)
		bad += intern_own(&f.s, i, 40) != i + 1;
	CHECK_INT(bad, 0);
	CHECK_INT(mount("t", PLACE, "tmpfs", MS_REMOUNT, "size=64m"), 0);
	/* The kernel is not asked each time: not all of the next thousand need be kept. */
	for (uint64_t end = seed + 1024; seed < end; seed++)
		intern(&f.s, seed, 40);
	CHECK(intern_own(&f.s, seed, 40) != 0);
	CHECK_INT(f.s.header->commit_streak, 0);
}

TEST(stacks_without_memory)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(stacks_until_full);
}

static bool nobody_alive(uint32_t tid)
{
	return false;
}

static uint64_t fill_up(const struct segment *s, enum ht_region_id region)
{
	uint64_t at = s->header->region[region].offset;

	while (commit_range(s, at, 1) == 0)
		at += HT_COMMIT_BYTES;
	return at;
}

/* The list of pieces goes on in a part of the header that is not there yet. */
static void pieces_until_full(void)
{
	const uint32_t listed =
		(COMMIT_PAGE - offsetof(struct ht_header, pieces) % COMMIT_PAGE) / sizeof(uint64_t);
	struct fixture f = on_tmpfs("64m");
	struct live_block b = block(48), old[LIVE_MISSED_MAX];

	for (uint64_t i = 1; i <= listed; i++)
		CHECK_INT(live_insert(&f.s, i * HT_PIECE_BYTES, &b, old), 0);
	CHECK(f.s.header->pieces[listed - 1] != 0);
	fill_up(&f.s, HT_REGION_COUNTERS); /* the overflow has none of it */
	for (uint64_t i = listed + 1; i < listed + 100; i++)
		CHECK_INT(live_insert(&f.s, i * HT_PIECE_BYTES, &b, old), LIVE_REFUSED);
	CHECK_INT(mount("t", PLACE, "tmpfs", MS_REMOUNT, "size=512m"), 0);
	for (uint64_t i = listed + 1; i < listed + 1000; i++)
		live_insert(&f.s, i * HT_PIECE_BYTES, &b, old);
	CHECK_INT(live_insert(&f.s, (listed + 1000) * HT_PIECE_BYTES, &b, old), 0);
}

TEST(pieces_without_memory)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(pieces_until_full);
}

/* The first unit of a region. */
static int unit_take(const struct segment *s, enum ht_region_id region)
{
	return commit_range(s, s->header->region[region].offset, HT_COMMIT_BYTES);
}

/* Regions that begin in parts: what is missing is an error, what is there stays usable. */
static void starts_when_full(void)
{
	struct fixture f = on_tmpfs("1m");
	uint64_t at = f.s.header->region[HT_REGION_NODES].offset, two = 2 * f.s.header->page_bytes;

	CHECK_INT(commit_range(&f.s, at, two), 0);
	fill_up(&f.s, HT_REGION_LIVE);
	CHECK_INT(commit_range(&f.s, at + two - 1, 2), -ENOMEM);
	CHECK_INT(commit_range(&f.s, at, two), 0);
	memset(segment_at(&f.s, at), 0xaa, two);
	CHECK_INT(mount("t", PLACE, "tmpfs", MS_REMOUNT, "size=8m"), 0);
	CHECK_INT(commit_range(&f.s, at + two - 1, 2), 0);
	CHECK_INT(commit_range(&f.s, at, HT_COMMIT_BYTES), 0);
	CHECK(commit_has(&f.s, at));
	for (uint64_t i = two; i < HT_COMMIT_BYTES; i++)
		CHECK(*(const char *)segment_at(&f.s, at + i) == 0);
	memset(segment_at(&f.s, at), 0xaa, HT_COMMIT_BYTES);
}

TEST(starts_without_memory)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(starts_when_full);
}

static uint64_t machine_page(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

static bool is_populated(const struct segment *s, uint64_t at)
{
	unsigned char there = 0;

	CHECK_INT(mincore(segment_at(s, at & ~(machine_page() - 1)), 1, &there), 0);
	return there & 1;
}

/* Where the machine's pages are larger, by the header, whole ones are committed: a range within one
 * needs no more than the kernel can populate. */
static void pages_of_all_sizes(void)
{
	for (uint32_t page = (uint32_t)machine_page(); page <= HT_COMMIT_BYTES; page *= 4) {
		struct fixture f = on_tmpfs("64m");
		uint64_t at = f.s.header->region[HT_REGION_NODES].offset;
		uint64_t far = f.s.header->region[HT_REGION_LIVE].offset + 3 * HT_COMMIT_BYTES;

		f.s.header->page_bytes = page;
		CHECK_INT(mapping_take(&f.s, far, HT_COMMIT_BYTES), 0);
		CHECK_INT(commit_pages(&f.s, far + page + 100, 1), 0);
		CHECK(is_populated(&f.s, far + page) && is_populated(&f.s, far + 2 * page - 1));
		CHECK(!is_populated(&f.s, far) && !is_populated(&f.s, far + 2 * page));
		for (uint64_t end = machine_page() + 1; end <= HT_COMMIT_BYTES; end += 4096) {
			CHECK_INT(commit_range(&f.s, at, end), 0);
			CHECK_INT(commit_reach(&f.s, at) % page, 0);
			CHECK(commit_reach(&f.s, at) >= end);
		}
		segment_unmap(&f.s);
		umount(PLACE);
	}
}

TEST(pages_are_the_machines)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(pages_of_all_sizes);
}

static void rest_when_full(void)
{
	struct fixture f = on_tmpfs("1m");
	struct module_info m = {
		.start = 1, .end = 2, .path = "/x", .build_id = (const uint8_t *)""
	};
	struct ht_event e = { .kind = HT_EVENT_ALLOC };
	uint32_t slot, last = 0;

	CHECK_INT(unit_take(&f.s, HT_REGION_THREADS), 0);
	CHECK_INT(unit_take(&f.s, HT_REGION_MODULES), 0);
	CHECK_INT(unit_take(&f.s, HT_REGION_STRINGS), 0);
	fill_up(&f.s, HT_REGION_LIVE);
	/* The first unit of threads is taken: so many slots, 0 shared. */
	for (uint32_t i = 1; i < HT_COMMIT_BYTES / sizeof(struct ht_thread); i++)
		CHECK_INT(slot = thread_claim(&f.s, 100 + i, nobody_alive), i);
	/* The next would need memory: a dead thread's slot will do. */
	CHECK(thread_claim(&f.s, 900, nobody_alive) > 0);
	for (int i = 0; i < 10; i++)
		ring_push(&f.s, 5, &e);
	CHECK_INT(thread_at(&f.s, 5)->ring_head, 10);
	for (uint64_t i = 0; i < 512; i++) {
		m.start = i;
		last = module_intern(&f.s, &m);
	}
	CHECK_INT(last, 0); /* 511 fit into the unit, 0 included */
	CHECK_INT(f.s.header->modules, 512);
	history_note(&f.s, 1, FIXTURE_CREATED_NS, 5);
	CHECK_INT(f.s.header->history.point[0], 5);
}

TEST(other_tables_without_memory)
{
	if (!can_mount())
		SKIP("needs root, to mount a tmpfs");
	fixture_in_child(rest_when_full);
}

static void limit_file_size(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct segment s = { 0 };
	int fd = memfd_create("segment", MFD_CLOEXEC);
	struct stat st;

	CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	CHECK_INT(segment_create(&s, fd, SEGMENT_SMALL, &fixture_identity), -EFBIG);
	CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), -EFBIG);
	CHECK(s.header == NULL);
	CHECK(fstat(fd, &st) == 0 && st.st_size == 0);
}

TEST(file_size_limit)
{
	fixture_in_child(limit_file_size);
}

/* The program's own share of its limit is what counts: nothing is made that takes most of it. */
static void limit_address_space(void)
{
	static const struct {
		rlim_t megabytes;
		int full, small;
	} cases[] = { { 16000, 0, 0 }, { 200, 0, 0 }, { 120, 0, 0 }, { 80, -ENOMEM, 0 },
		{ 40, -ENOMEM, 0 }, { 20, -ENOMEM, -ENOMEM } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rlimit limit = { cases[i].megabytes << 20, cases[i].megabytes << 20 };
		struct segment s = { 0 };
		int fd = memfd_create("segment", MFD_CLOEXEC);

		CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
		CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), cases[i].full);
		segment_unmap(&s);
		CHECK(ftruncate(fd, 0) == 0);
		CHECK_INT(segment_create(&s, fd, SEGMENT_SMALL, &fixture_identity), cases[i].small);
		segment_unmap(&s);
		close(fd);
	}
}

TEST(address_space_limit)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	SKIP("a sanitizer's shadow is larger than the limit");
#endif
	fixture_in_child(limit_address_space);
}

/* With less room in the file there are fewer pieces, then fewer stacks; those are not what a
 * segment is refused for. */
static void limit_pieces(void)
{
	static const struct {
		rlim_t megabytes;
		uint32_t sites;
	} cases[] = { { 25000, 1u << 22 }, { 16000, 1u << 22 }, { 8000, 1u << 22 },
		{ 4500, 1u << 21 }, { 3520, 1u << 20 } };
	uint32_t last = HT_PIECES_MAX + 1;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rlimit limit = { cases[i].megabytes << 20, cases[i].megabytes << 20 };
		struct segment s = { 0 };
		int fd = memfd_create("segment", MFD_CLOEXEC);

		CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), 0);
		CHECK(s.header->live_pieces_max < last || last == 32);
		CHECK(s.header->live_pieces_max >= 32);
		CHECK(s.bytes <= limit.rlim_cur);
		last = s.header->live_pieces_max;
		CHECK_INT(segment_capacity(&s, HT_REGION_SITES, sizeof(struct ht_site)),
			cases[i].sites);
		segment_unmap(&s);
		close(fd);
	}
}

TEST(pieces_by_the_limit)
{
	fixture_in_child(limit_pieces);
}

static uint64_t resident_bytes(void)
{
	char line[256];
	unsigned long long kilobytes = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu", &kilobytes) == 1)
			break;
	fclose(f);
	return kilobytes * 1024;
}

/* mlockall must not take memory for all that a segment might grow to. */
TEST(locked_memory)
{
	struct segment s = { 0 };
	int fd = memfd_create("segment", MFD_CLOEXEC);
	bool locked;

	CHECK_INT(segment_create(&s, fd, SEGMENT_FULL, &fixture_identity), 0);
	locked = mlockall(MCL_CURRENT) == 0;
	CHECK(!locked || resident_bytes() < 64 << 20);
	munlockall();
	segment_unmap(&s);
	close(fd);
	if (!locked)
		SKIP("needs root, to lock memory without limit");
}

int main(void)
{
	RUN(locked_memory);
	RUN(no_room_to_start);
	RUN(commit_fails_cleanly);
	RUN(live_without_memory);
	RUN(stacks_without_memory);
	RUN(pieces_without_memory);
	RUN(starts_without_memory);
	RUN(pages_are_the_machines);
	RUN(other_tables_without_memory);
	RUN(file_size_limit);
	RUN(address_space_limit);
	RUN(pieces_by_the_limit);
	return check_end();
}
