/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prepares a segment (prepare.h). The name is random and created with O_EXCL, so no other user can
 * have created it first. Main thread, before the program is started.
 */
#include "src/target/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/before.h"
#include "shm/directories.h"
#include "shm/segment.h"
#include "src/proc/proc.h"
#include "src/target/places.h"
#include "src/util/clock.h"
#include "src/util/error_hint.h"
#include "src/util/strbuf.h"
#include "src/util/units.h"

struct prepared {
	struct segment segment;
	char path[256], inside[256];
	pid_t reader; /* the process that must see it; 0: it inherits our root */
	bool unseen; /* it can see none */
	uint64_t family, name;
	unsigned depth;
	enum segment_size size;
	bool beside; /* another segment of the family says whether we exist */
	int fd;
	struct strbuf why; /* on failure: the error of each directory */
};

const char *prepare_variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The free space of a file system explains more than the text of its error. */
static void space_say(struct strbuf *out, const char *directory)
{
	char need[UNITS_MAX], room[UNITS_MAX];
	struct statvfs fs;

	if (statvfs(directory, &fs) != 0)
		return;
	if (fs.f_files != 0 && fs.f_favail == 0)
		strbuf_puts(out, ", no inode is free");
	else
		strbuf_printf(out, ", %s needed to begin, %s free",
			units_bytes(need, SEGMENT_START_BYTES),
			units_bytes(room, (uint64_t)fs.f_bavail * fs.f_frsize));
}

/* Adds one directory that failed. */
static void place_say(struct prepared *p, const char *directory, int error)
{
	struct strbuf *out = &p->why;

	strbuf_printf(out, "%s%.100s: %s", out->len > 0 ? "; " : "", directory, strerror(-error));
	if (error == -ENOSPC)
		space_say(out, directory);
}

/* Errors that another directory may not have. */
static bool is_of_place(int error)
{
	static const int others[] = { ENOMEM, EMFILE, ENFILE, EFBIG, EINTR };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (error == -others[i])
			return false;
	return true;
}

static void fail(const struct prepared *p, int error, char *message)
{
	const char *more =
		is_of_place(error) ? "name a directory with room in HEAPTOP_DIR" : remedy(error);

	snprintf(message, TARGET_MESSAGE_MAX, "no shared memory for the recording: %s%s%s%s",
		p && p->why.len > 0 ? strbuf_text(&p->why) : strerror(-error), more ? " (" : "",
		more ? more : "", more ? ")" : "");
}

static void identity(struct segment_identity *id, unsigned depth, uint64_t family)
{
	memset(id, 0, sizeof(*id));
	id->uid = geteuid();
	id->depth = depth;
	id->family = family;
	id->pid_namespace = proc_pid_namespace();
	id->created_realtime_ns = clock_realtime_ns();
	id->created_ns = clock_monotonic_ns();
	proc_boot_id(id->boot_id);
}

/* While this lock on the first byte is held, new processes of the launch leave their segments to us
 * (preload/attach.c). It is released even when we are killed. */
static void presence_tell(int fd)
{
	struct flock first = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1 };

	/* On a file system without locks, they see that too, and leave their segments to us. */
	(void)fcntl(fd, F_OFD_SETLK, &first);
}

/* This thread's: the kernel reads it when the thread ends. */
static struct robust_list_head futexes;
static struct robust_list entry;

static int futexes_tell(struct robust_list *first)
{
	futexes.list.next = first;
	return syscall(SYS_set_robust_list, &futexes, sizeof(futexes)) == 0 ? 0 : -errno;
}

/*
 * Lets processes of the launch see our end without a system call, which a sandbox might forbid them
 * at their own end: the word is like a robust mutex that we hold (set_robust_list(2)). libc's list
 * of the thread is suspended meanwhile; heaptop uses no robust mutex.
 */
static void end_tell(struct ht_header *h)
{
	entry.next = &futexes.list;
	futexes.futex_offset = (char *)&h->viewer - (char *)&entry;
	ht_store_relaxed_32(&h->viewer, (uint32_t)syscall(SYS_gettid));
	if (futexes_tell(&entry) != 0)
		ht_store_relaxed_32(&h->viewer, 0);
}

/* The same before it is unmapped. */
static void end_now(struct ht_header *h)
{
	(void)futexes_tell(&futexes.list);
	if (ht_load_relaxed_32(&h->viewer) != 0)
		ht_store_relaxed_32(&h->viewer, FUTEX_OWNER_DIED);
}

static int create(struct prepared *p)
{
	struct segment_identity id;
	int rc;

	p->fd = open(p->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->fd < 0)
		return -errno;
	identity(&id, p->depth, p->family);
	rc = segment_create(&p->segment, p->fd, p->size, &id);
	if (rc != 0 && ftruncate(p->fd, 0) == 0)
		rc = segment_create(&p->segment, p->fd, SEGMENT_SMALL, &id);
	if (rc == 0) {
		presence_tell(p->fd);
		if (!p->beside)
			end_tell(p->segment.header);
		return 0;
	}
	close(p->fd);
	unlink(p->path);
	return rc;
}

static int create_in(void *ctx, const char *directory)
{
	struct prepared *p = ctx;
	int len = snprintf(p->path, sizeof(p->path), "%s/heaptop-%016llx", directory,
		(unsigned long long)p->name);
	int rc = (size_t)len < sizeof(p->path) ? create(p) : -ENAMETOOLONG;

	if (rc != 0)
		place_say(p, directory, rc);
	return rc;
}

static void uncreate(struct prepared *p, bool remove)
{
	if (!p->beside)
		end_now(p->segment.header);
	segment_unmap(&p->segment);
	close(p->fd);
	if (remove)
		unlink(p->path);
}

/* Whether the process finds the same file under this path. */
static bool is_seen(const struct prepared *p)
{
	struct stat own, its;
	char there[sizeof(p->path) + 32];

	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)proc_memory_tid(p->reader), p->path);
	return fstat(p->fd, &own) == 0 && stat(there, &its) == 0 && own.st_dev == its.st_dev &&
	       own.st_ino == its.st_ino;
}

static int create_seen(struct prepared *p)
{
	int rc = directories_try(prepare_variable, create_in, p), own = rc;

	if (rc == 0)
		strcpy(p->inside, p->path);
	if (p->reader == 0 || (rc == 0 && is_seen(p)))
		return rc;
	if (rc == 0)
		uncreate(p, true);
	places_add(p->reader);
	rc = places_try(p->reader, create_in, p);
	if (rc == 0 && !places_inside(p->path, p->inside, sizeof(p->inside))) {
		uncreate(p, true);
		rc = -ENAMETOOLONG;
	}
	p->unseen = rc != 0 && own == 0;
	return rc != 0 && own != 0 ? own : rc;
}

static struct prepared *prepare_of(pid_t reader, const struct prepared *first, unsigned depth,
	enum segment_size size, char *message)
{
	struct prepared *p = calloc(1, sizeof(*p));
	uint64_t random[2];
	int rc = -ENOMEM;

	if (p && getrandom(random, sizeof(random), 0) == sizeof(random)) {
		p->name = random[0];
		p->family = first ? first->family : random[1] | 1; /* never 0 */
		p->beside = first != NULL;
		p->depth = depth;
		p->size = size;
		p->reader = reader;
		rc = create_seen(p);
	} else if (p) {
		rc = -errno;
	}
	if (rc != 0 && p && p->unseen)
		snprintf(message, TARGET_MESSAGE_MAX,
			"its root (chroot, or a container) has no /dev/shm, /run or /tmp in which "
			"the recording can be; mount one there");
	else if (rc != 0)
		fail(p, rc, message);
	if (p)
		strbuf_free(&p->why);
	if (rc == 0)
		return p;
	free(p);
	return NULL;
}

struct prepared *prepare_segment(unsigned depth, char *message)
{
	return prepare_of(0, NULL, depth, SEGMENT_FULL, message);
}

struct prepared *prepare_segment_narrow(unsigned depth, char *message)
{
	return prepare_of(0, NULL, depth, SEGMENT_NARROW, message);
}

struct prepared *prepare_segment_for(
	pid_t pid, const struct prepared *first, unsigned depth, char *message)
{
	return prepare_of(pid, first, depth, SEGMENT_FULL, message);
}

const char *prepare_path(const struct prepared *p)
{
	return p->path;
}

const char *prepare_path_inside(const struct prepared *p)
{
	return p->inside;
}

uint64_t prepare_family(const struct prepared *p)
{
	return p->family;
}

int prepare_bind(struct prepared *p, pid_t pid)
{
	uint64_t ticks;
	int rc = proc_start_ticks(pid, &ticks);

	if (rc != 0)
		return rc;
	p->segment.header->start_ticks = ticks;
	p->segment.header->ppid = (uint32_t)getpid();
	p->segment.header->pid = (uint32_t)pid;
	return 0;
}

int prepare_bind_running(struct prepared *p, pid_t pid)
{
	struct ht_header *h = p->segment.header;
	int rc = prepare_bind(p, pid);
	struct stat st;
	char path[40];
	long inner;

	if (rc != 0)
		return rc;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	if (proc_status_number(path, "\nNSpid:", true, &inner) && inner > 0)
		h->pid = (uint32_t)inner;
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)pid);
	if (stat(path, &st) == 0)
		h->pid_namespace = st.st_ino;
	return 0;
}

void prepare_outside(struct prepared *p)
{
	static_assert(sizeof(HT_WHY_OUTSIDE) <= HT_WHY_MAX, "why");
	strcpy(p->segment.header->why, HT_WHY_OUTSIDE);
}

/* Its files in /proc belong to the effective user, or to root if it may not be traced. */
int prepare_give(struct prepared *p, pid_t pid)
{
	struct proc_reading r = { 0 };
	char path[40];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (geteuid() != 0)
		return 0;
	if (stat(path, &st) != 0 || proc_read(pid, false, &r) != 0)
		return -ESRCH;
	if (st.st_uid == 0)
		st.st_uid = r.uid;
	if (fchown(p->fd, st.st_uid, st.st_gid) != 0)
		return -errno;
	p->segment.header->uid = st.st_uid;
	return 0;
}

void prepare_describe(struct prepared *p, pid_t pid)
{
	struct ht_header *h = p->segment.header;
	pid_t tid = proc_memory_tid(pid);
	char path[40];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)tid);
	n = readlink(path, h->exe, sizeof(h->exe) - 1);
	h->exe[n > 0 ? n : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)tid);
	n = proc_file_read(path, h->command, sizeof(h->command));
	h->command_bytes = n > 0 ? (uint32_t)n : 0;
	(void)before_prepare(&p->segment); /* without: its heap is not shown */
}

static int header_put(const char *path, size_t at, const void *word, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, word, bytes, (off_t)at) != (ssize_t)bytes)
		rc = -EIO;
	close(fd);
	return rc;
}

int prepare_disown(const char *path)
{
	const uint64_t none = 0;

	return header_put(path, offsetof(struct ht_header, family), &none, sizeof(none));
}

int prepare_unasked(const char *path)
{
	const uint32_t done = 1;

	return header_put(path, offsetof(struct ht_header, leak_done), &done, sizeof(done));
}

void prepare_end(struct prepared *p, bool remove)
{
	if (!p)
		return;
	uncreate(p, remove);
	free(p);
}
