/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Attaching to a segment (attach.h). Runs on the thread of the first allocation, with recording
 * off. Only plain system calls: stdio and getenv-like functions that allocate or lock are forbidden
 * here.
 *
 * The file is made with O_EXCL | O_NOFOLLOW, mode 0600, so a name taken by someone else is skipped,
 * and readers check the owner. The generation is one more than that of the newest segment found, so
 * the segment before the last may be removed.
 */
#include "preload/attach.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/clock.h"
#include "preload/environment.h"
#include "preload/event_wait.h"
#include "preload/orphans.h"
#include "preload/segment_file.h"
#include "preload/segment_name.h"
#include "shm/module.h"
#include "shm/patched.h"
#include "shm/directories.h"
#include "shm/kernel.h"
#include "shm/poisson.h"
#include "shm/mapping.h"

#define NAMES_TRIED_MAX 4096u /* names taken by others, before giving up */
#define NAME_MAX_BYTES	512u
#define LAUNCH_BYTES	4096u

static char own_path[NAME_MAX_BYTES]; /* of our segment; empty: none */

/* Our launch, 0: none; and a page of its first segment, where the kernel records the viewer's end.
 */
static uint64_t launch_family;
static const struct ht_header *launch;
static char launch_path[NAME_MAX_BYTES];

/* Reads the beginning of a small file. Bytes, or -errno. Raw calls: no cancellation points. */
static ssize_t slurp(const char *path, char *buf, size_t cap)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), got, used = 0;

	if (fd < 0)
		return -errno;
	do {
		got = syscall(SYS_read, fd, buf + used, cap - 1 - (size_t)used);
		used += got > 0 ? got : 0;
	} while (got > 0 && (size_t)used < cap - 1);
	syscall(SYS_close, fd);
	buf[used] = '\0';
	return used;
}

/* Field 22 of /proc/self/stat. The command name in field 2 may contain anything, so fields count
 * from its end. */
static uint64_t start_ticks(void)
{
	char buf[1024], *p;

	if (slurp("/proc/self/stat", buf, sizeof(buf)) <= 0)
		return 0;
	p = strrchr(buf, ')');
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? segment_name_number(p + 1) : 0;
}

static void boot_id(uint8_t id[16])
{
	char buf[64];
	unsigned digits = 0;

	memset(id, 0, 16);
	if (slurp("/proc/sys/kernel/random/boot_id", buf, sizeof(buf)) <= 0)
		return;
	for (const char *p = buf; *p && digits < 32; p++) {
		unsigned value = *p >= '0' && *p <= '9'	  ? (unsigned)(*p - '0')
				 : *p >= 'a' && *p <= 'f' ? (unsigned)(*p - 'a') + 10
							  : 16;

		if (value == 16)
			continue;
		id[digits / 2] = (uint8_t)(id[digits / 2] << 4 | value);
		digits++;
	}
}

/* The namespace of our pid; 0: there is no /proc. */
static uint64_t pid_namespace(void)
{
	struct stat st;

	return syscall(KERNEL_FSTATAT, AT_FDCWD, "/proc/self/ns/pid", &st, 0) == 0 ? st.st_ino : 0;
}

static uint32_t wanted_depth(void)
{
	const char *text = environment_variable("HEAPTOP_DEPTH");
	uint64_t depth = text ? segment_name_number(text) : 0;

	return depth == 0 || depth > HT_DEPTH_MAX ? HT_DEPTH_DEFAULT : (uint32_t)depth;
}

/* "512K", rounded down to a power of two; an invalid value means exact. */
static uint64_t wanted_sampling(void)
{
	const char *text = environment_variable("HEAPTOP_SAMPLE");
	uint64_t bytes = text ? segment_name_number(text) : 0;

	while (text && *text >= '0' && *text <= '9')
		text++;
	if (text && (*text | 0x20) == 'k')
		bytes <<= 10;
	else if (text && (*text | 0x20) == 'm')
		bytes <<= 20;
	while (bytes & (bytes - 1))
		bytes &= bytes - 1;
	return poisson_is_rate(bytes) ? bytes : 0;
}

/* All but the boot id. */
static void identity(struct segment_identity *id)
{
	id->pid = (uint32_t)syscall(SYS_getpid);
	id->ppid = (uint32_t)syscall(SYS_getppid);
	id->uid = (uint32_t)syscall(KERNEL_GETEUID);
	id->depth = wanted_depth();
	id->sample_bytes = wanted_sampling();
	id->start_ticks = start_ticks();
	id->pid_namespace = pid_namespace();
	id->created_realtime_ns = clock_realtime();
	id->created_ns = clock_monotonic();
}

/* Claims the segment that was prepared for this process. 1: the previous image claimed it, or it
 * exceeds our limits, for which a viewer that attaches gets -errno. */
static int claim_whole(struct segment *s, int fd, const char *path)
{
	uint32_t prepared = HT_STATE_PREPARED;
	int rc = segment_map(s, fd);

	if (rc != 0)
		return environment_is_given() ? rc : 1;
	/* Relaxed: the header was read by edge MAGIC, and only one image claims it. */
	if (ht_cas_relaxed_32(&s->header->state, &prepared, HT_STATE_RUNNING)) {
		segment_file_dump(s, fd);
		segment_name_copy(own_path, sizeof(own_path), path);
		return 0;
	}
	segment_unmap(s);
	return 1;
}

static void launch_note(int fd, const char *path, uint64_t family)
{
	void *p = kernel_mmap(NULL, LAUNCH_BYTES, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return;
	madvise(p, LAUNCH_BYTES, MADV_DONTDUMP);
	launch = p;
	launch_family = family;
	segment_name_copy(launch_path, sizeof(launch_path), path);
}

/* A process that records nothing leaves the launch: its mappings show what it records. */
static void launch_forget(void)
{
	if (launch)
		kernel_munmap((void *)(uintptr_t)launch, LAUNCH_BYTES);
	launch = NULL;
}

/* A viewer that records the events of `h` wants those of this image, too, from the first on; and
 * finds it soon, if it is there. Until then the image may wait for it, as often as once. */
static void events_inherit(struct segment_identity *id, const struct ht_header *h)
{
	uint64_t now = clock_monotonic();

	id->events_until = ht_load_relaxed_64(&h->events_until);
	if (id->events_until <= now)
		id->events_until = 0;
	if (id->events_until != 0 && event_wait_is_granted(h, now))
		id->events_wait = now + HT_RING_WAIT_NS;
}

/* The process of the segment that is named was attached to, and is no more: whoever inherits this
 * environment is to run as if that had never been. `h`: NULL: the segment is gone. */
static bool is_over(const struct ht_header *h)
{
	const char *attached = environment_variable("HEAPTOP_ATTACHED");

	if (!attached || environment_is_given())
		return false;
	return !h || (ht_load_acquire_32(&h->state) == HT_STATE_STOPPED && /* WHY */
			     strcmp(h->why, HT_WHY_DETACHED) == 0);
}

/* Checks the segment that a viewer names. 0: it is for this image, and mapped; 1: create another,
 * in the same launch and of the same depth; -ECANCELED: create none; or -errno: unusable. */
static int claim(struct segment *s, const char *path, struct segment_identity *id)
{
	long fd =
		syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_LARGEFILE);
	const char *follow = environment_variable("HEAPTOP_FOLLOW");
	int rc;

	if (fd < 0)
		return errno == ENOENT && is_over(NULL) ? -ECANCELED : -errno;
	rc = segment_file_is_ours((int)fd) ? segment_map_header(s, (int)fd) : -EPERM;
	if (rc == 0 && is_over(s->header)) {
		segment_unmap(s);
		rc = -ECANCELED;
	}
	if (rc == 0) {
		bool ours = s->header->pid == id->pid &&
			    s->header->start_ticks == id->start_ticks &&
			    s->header->pid_namespace == id->pid_namespace;

		memcpy(id->boot_id, s->header->boot_id, sizeof(id->boot_id));
		id->family = s->header->family;
		id->depth = s->header->depth;
		id->sample_bytes = ht_load_relaxed_64(&s->header->sample_bytes);
		id->measure = ht_load_relaxed_32(&s->header->measure);
		events_inherit(id, s->header);
		id->leak_ask = ht_load_relaxed_32(&s->header->leak_ask);
		if (!ours && id->leak_ask == HT_LEAK_ASK_ONE)
			id->leak_ask = 0;
		id->exec_gen = ours ? s->header->exec_gen + 1 : 0; /* unless we claim it */
		segment_unmap(s);
		if (ours)
			rc = claim_whole(s, (int)fd, path);
		else
			rc = follow && strcmp(follow, "0") == 0 ? -ECANCELED : 1;
	}
	if (rc >= 0)
		launch_note((int)fd, path, id->family);
	syscall(SYS_close, fd);
	return rc;
}

/* Creates our segment in `dir`, under the first free name. */
static int create_named(struct segment *s, const char *dir, struct segment_identity *id)
{
	char path[NAME_MAX_BYTES];
	long fd;
	int rc;

	/* A forked child has had no image before. */
	id->exec_gen = id->forked ? 0 : segment_name_generation(dir, id);
	for (uint32_t tried = 0; tried < NAMES_TRIED_MAX; tried++, id->exec_gen++) {
		segment_name_of(path, sizeof(path), dir, id, id->exec_gen);
		fd = syscall(SYS_openat, AT_FDCWD, path,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		rc = segment_create(s, (int)fd, SEGMENT_OWN, id);
		if (rc != 0) {
			/* Truncated back, so that the second try starts from an empty file. */
			rc = ftruncate((int)fd, 0);
			rc = segment_create(s, (int)fd, SEGMENT_SMALL, id);
		}
		if (rc == 0)
			segment_file_dump(s, (int)fd);
		syscall(SYS_close, fd);
		if (rc != 0)
			syscall(SYS_unlinkat, AT_FDCWD, path, 0);
		else
			segment_name_copy(own_path, sizeof(own_path), path);
		return rc;
	}
	return -EEXIST;
}

/* The same, and removes the segment of the image that ended in exec: without a viewer nobody asks
 * for it. */
static int create_in(struct segment *s, const char *dir, struct segment_identity *id)
{
	char path[NAME_MAX_BYTES];
	int rc = create_named(s, dir, id);

	if (id->family == 0 && id->exec_gen > 0) {
		segment_name_of(path, sizeof(path), dir, id, id->exec_gen - 1);
		segment_file_remove(path);
	}
	return rc;
}

/* The part before the last slash of a path, or nothing. */
static void path_directory(const char *path, char *out, size_t cap)
{
	const char *slash = strrchr(path, '/');
	size_t bytes = slash ? (size_t)(slash - path) : 0;

	memcpy(out, path, bytes < cap ? bytes : 0);
	out[bytes < cap ? bytes : 0] = '\0';
}

/* The part after it. */
static void path_name(const char *path, char *out, size_t cap)
{
	const char *slash = strrchr(path, '/');

	segment_name_copy(out, cap, slash ? slash + 1 : path);
}

struct making {
	struct segment *segment;
	struct segment_identity *identity;
};

static int make_in(void *ctx, const char *dir)
{
	struct making *m = ctx;

	return create_in(m->segment, dir, m->identity);
}

/* In the directory of the launch, if there is one: it had room for the others. */
static int create(struct segment *s, struct segment_identity *id, const char *prepared)
{
	struct making m = { s, id };
	char dir[NAME_MAX_BYTES];

	path_directory(prepared ? prepared : "", dir, sizeof(dir));
	if (dir[0] && create_in(s, dir, id) == 0)
		return 0;
	return directories_try(environment_variable, make_in, &m);
}

static void describe(struct ht_header *h)
{
	long length =
		syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", h->exe, sizeof(h->exe) - 1);
	ssize_t got = slurp("/proc/self/cmdline", h->command, sizeof(h->command));

	h->exe[length > 0 ? length : 0] = '\0';
	h->command_bytes = got > 0 ? (uint32_t)got : 0;
}

/* Whether the viewer of our launch exists: it holds a lock on the segment that it prepared, which
 * ends with it in any case. The query disturbs nobody. If it fails, for lack of rights, descriptors
 * or locks, the viewer counts as existing. */
static bool viewer_is_there(const char *prepared)
{
	long fd = syscall(SYS_openat, AT_FDCWD, prepared,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_LARGEFILE);
	struct flock first = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	bool there;

	if (fd < 0)
		return errno != ENOENT;
	there = syscall(KERNEL_FCNTL, fd, F_OFD_GETLK, &first) != 0 || first.l_type != F_UNLCK;
	syscall(SYS_close, fd);
	return there;
}

/* If the viewer has gone, only we can remove our segment. */
static void family_check(struct ht_header *h, const char *prepared)
{
	if (h->family != 0 && !viewer_is_there(prepared))
		h->family = 0;
}

int attach_segment(struct segment *s)
{
	const char *prepared = environment_variable("HEAPTOP_SEGMENT");
	struct segment_identity id = { 0 };
	int rc = 1;

	if (getauxval(AT_SECURE) && !environment_is_given())
		return -EPERM; /* a setuid program ignores its caller's environment */
	identity(&id);
	if (prepared)
		rc = claim(s, prepared, &id);
	if (rc != 0 && environment_is_given()) {
		rc = rc > 0 ? -ESTALE : rc; /* the viewer reads that segment, and no other */
	} else if (rc != 0 && rc != -ECANCELED) {
		if (rc < 0 || !prepared)
			boot_id(id.boot_id);
		rc = create(s, &id, prepared);
		if (rc == 0)
			family_check(s->header, prepared);
	}
	if (rc == 0)
		describe(s->header);
	else
		launch_forget();
	return rc;
}

bool attach_follows(const struct ht_header *parent)
{
	const char *follow = environment_variable("HEAPTOP_FOLLOW");

	return !(follow && (strcmp(follow, "0") == 0 || strcmp(follow, "exec") == 0)) &&
	       !ht_load_relaxed_32(&parent->fork_alone) && own_path[0];
}

static ht_aligned_64 parent_blocks;

void attach_before_fork(const struct segment *s)
{
	/* Relaxed: any value that was there before the fork is right. */
	ht_store_relaxed_64(&parent_blocks, ht_load_relaxed_64(&s->header->mapping_blocks));
}

/* By what name a viewer finds the parent's segment. */
static void parent_note(struct ht_header *h, const struct segment *parent, const char *name)
{
	segment_name_copy(h->parent, sizeof(h->parent), name);
	h->parent_created_ns = parent->header->created_ns;
	h->parent_blocks = ht_load_relaxed_64(&parent_blocks); /* ours since the fork */
}

int attach_child(struct segment *s, const struct segment *parent)
{
	const char *prepared = environment_variable("HEAPTOP_SEGMENT");
	char directory[NAME_MAX_BYTES], parents_name[HT_PARENT_MAX];
	struct segment_identity id = { 0 };
	int rc;

	if (!attach_follows(parent->header))
		return -ECANCELED;
	path_directory(own_path, directory, sizeof(directory));
	path_name(own_path, parents_name, sizeof(parents_name));
	own_path[0] = '\0';
	identity(&id);
	memcpy(id.boot_id, parent->header->boot_id, sizeof(id.boot_id));
	id.forked = 1;
	id.family = parent->header->family;
	id.depth = parent->header->depth;
	id.sample_bytes = ht_load_relaxed_64(&parent->header->sample_bytes);
	id.measure = ht_load_relaxed_32(&parent->header->measure);
	id.ignore_round = ht_load_relaxed_32(&parent->header->ignore_round);
	events_inherit(&id, parent->header);
	id.leak_ask = ht_load_relaxed_32(&parent->header->leak_ask);
	if (id.leak_ask == HT_LEAK_ASK_ONE)
		id.leak_ask = 0;
	rc = create_in(s, directory, &id);
	if (rc != 0)
		return rc;
	s->single_threaded = parent->single_threaded;
	rc = module_inherit(s, parent);
	if (rc == 0)
		rc = patched_inherit(s, parent);
	if (rc != 0) {
		syscall(SYS_unlinkat, AT_FDCWD, own_path, 0);
		own_path[0] = '\0';
		segment_unmap(s);
		return rc;
	}
	s->extent_16 = parent->extent_16;
	s->extent_32 = parent->extent_32;
	s->extent_64 = parent->extent_64;
	s->extent_short = parent->extent_short;
	describe(s->header);
	parent_note(s->header, parent, parents_name);
	if (prepared)
		family_check(s->header, prepared);
	return 0;
}

/* Whether a file's header belongs to the segment that we have mapped. */
static bool is_mapped_from(long fd, const struct segment *s)
{
	const struct ht_header *h = s->header;
	uint64_t created = 0;

	return kernel_pread((int)fd, &created, sizeof(created),
		       offsetof(struct ht_header, created_ns)) == sizeof(created) &&
	       created == h->created_ns;
}

/* Replaces a mapping by a private one in one step: in between there would be nothing. */
static void range_private(const struct segment *s, const struct mapping_range *r, int fd)
{
	void *copy = kernel_mmap(NULL, r->bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)r->at);

	if (copy != MAP_FAILED &&
		syscall(SYS_mremap, copy, r->bytes, r->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
			segment_at(s, r->at)) == -1)
		kernel_munmap(copy, r->bytes);
}

void attach_private(struct segment *s)
{
	struct mapping_range range[HT_REGION_COUNT];
	unsigned n = mapping_ranges_forked(s, range);
	long fd = own_path[0]
			  ? syscall(SYS_openat, AT_FDCWD, own_path,
				    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_LARGEFILE)
			  : -1;

	if (fd < 0)
		return;
	if (!segment_file_is_ours((int)fd) || !is_mapped_from(fd, s))
		n = 0;
	for (unsigned i = 0; i < n; i++)
		range_private(s, &range[i], (int)fd);
	syscall(SYS_close, fd);
}

static bool launcher_ended(void)
{
	return launch && (ht_load_relaxed_32(&launch->viewer) & FUTEX_OWNER_DIED) != 0;
}

void attach_check(struct ht_header *h)
{
	if (launcher_ended())
		h->family = 0;
}

void attach_remove(const struct segment *s)
{
	attach_check(s->header);
	if (own_path[0] && s->header->family == 0)
		segment_file_remove(own_path);
}

void attach_forget(void)
{
	launch_forget();
	launch_family = 0;
	own_path[0] = launch_path[0] = '\0';
}

void attach_release(const struct segment *s)
{
	char directory[NAME_MAX_BYTES];

	if (!own_path[0])
		return;
	attach_check(s->header);
	/* The viewer removes the segments of its launch: so the end takes no system call here,
	 * which a sandboxed program might not be allowed. */
	if (s->header->family != 0)
		return;
	if (launcher_ended()) {
		path_directory(own_path, directory, sizeof(directory));
		orphans_remove(directory, launch_family, own_path, launch_path);
	}
	segment_file_remove(own_path);
}
