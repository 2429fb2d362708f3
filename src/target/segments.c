/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The segments on this machine: where they are, which process owns each, and whether it still runs.
 * A segment belongs to a process when boot, pid and start time match. If a process has several
 * because of exec, only the newest image still runs. Used for -l and --clean, and by target_find.
 * Main thread.
 */
#include "src/target/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shm/directories.h"
#include "src/proc/proc.h"
#include "src/read/read.h"
#include "src/target/places.h"
#include "src/target/prepare.h"
#include "src/util/array.h"
#include "src/util/clock.h"
#include "src/util/text.h"

#define NAME_PREFIX "heaptop-"

/* A prepared segment without a pid belongs to a viewer that is about to fork. After this time that
 * viewer must be dead. */
#define PREPARED_MAX_NS UINT64_C(10000000000)

/* All segments, gathered before any is visited: images of one process must be compared. */
struct found {
	struct target_segment *items;
	size_t count, cap;
	uint8_t boot_id[PROC_BOOT_ID_BYTES];
	bool boot_known;
};

void target_line(char *out, size_t cap, char *line, size_t n)
{
	while (n && (!line[n - 1] || line[n - 1] == ' '))
		n--;
	text_unfold(line, n);
	text_clean(out, cap, line, n);
}

void target_command(char *out, size_t cap, const struct read_identity *id)
{
	char line[HT_COMMAND_MAX];
	size_t n = id->command_bytes < sizeof(line) ? id->command_bytes : sizeof(line);

	memcpy(line, id->command, n);
	target_line(out, cap, line, n);
}

/* Finds the process of a segment. 0; -ESRCH: it is gone; -EXDEV: it may be invisible from here;
 * another -errno: /proc cannot be read. */
static int process_find(
	const struct found *f, const struct read_identity *id, struct target_segment *s)
{
	const struct proc_claim claim = { .pid = id->pid,
		.pid_namespace = id->pid_namespace,
		.start_ticks = id->start_ticks,
		.maps = strrchr(s->path, '/') + 1 };

	if (f->boot_known && memcmp(f->boot_id, id->boot_id, PROC_BOOT_ID_BYTES) != 0)
		return -ESRCH;
	return proc_resolve(&claim, &s->process);
}

static bool is_being_prepared(const struct read_identity *id)
{
	return id->state == HT_STATE_PREPARED && id->pid <= 0 &&
	       clock_realtime_ns() - id->created_realtime_ns < PREPARED_MAX_NS;
}

static enum target_state state_of(
	const struct found *f, const struct read_identity *id, struct target_segment *s)
{
	int rc;

	if (id->state == HT_STATE_EXITED)
		return TARGET_EXITED;
	rc = process_find(f, id, s);
	if (rc == -EXDEV)
		return TARGET_ELSEWHERE;
	if (rc != 0 && rc != -ESRCH) {
		snprintf(s->why, sizeof(s->why), "cannot read its process in /proc: %s",
			strerror(-rc));
		return TARGET_UNREADABLE;
	}
	if (rc == 0 && id->state == HT_STATE_PREPARED && strcmp(id->why, HT_WHY_OUTSIDE) == 0)
		return TARGET_OUTSIDE;
	return rc == 0 || is_being_prepared(id) ? TARGET_RUNNING : TARGET_DEAD;
}

/* The maker of a segment, from its name (preload/attach.c); pid 0: the name has none. */
static struct proc_claim name_claim(const char *path)
{
	struct proc_claim c = { .pid_namespace = PROC_PID_NAMESPACE_FIRST };
	const char *at = strrchr(path, '/') + 1 + strlen(NAME_PREFIX);
	char *end;
	unsigned long pid = strtoul(at, &end, 10);

	if (*end == '.')
		c.pid_namespace = strtoul(end + 1, &end, 10);
	if (*end != '-' || pid > INT_MAX)
		return c;
	c.pid = (pid_t)pid;
	c.start_ticks = strtoull(end + 1, NULL, 10);
	return c;
}

/* The magic is written last. */
static bool is_unfinished(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	uint64_t magic = 0;
	bool unfinished;

	if (fd < 0)
		return false;
	unfinished = fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
		     pread(fd, &magic, sizeof(magic), offsetof(struct ht_header, magic)) >= 0 &&
		     magic == 0;
	close(fd);
	return unfinished;
}

/*
 * Whether the segment is being made, or its maker was killed meanwhile. The name has the maker, if
 * that is in our pid namespace; otherwise the age decides, since making one takes no time.
 */
static void unfinished_fill(struct target_segment *s)
{
	struct proc_claim c = name_claim(s->path);
	struct stat st;
	uint64_t age;

	s->pid = c.pid;
	if (!is_unfinished(s->path, &st))
		return;
	if (c.pid > 0 && c.start_ticks > 0 && c.pid_namespace == proc_pid_namespace()) {
		s->rest = proc_resolve(&c, &s->process) == -ESRCH;
		return;
	}
	age = clock_realtime_ns() -
	      ((uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec);
	s->rest = age > PREPARED_MAX_NS && age < INT64_MAX;
}

/* Whether it is whole, though of another format or damaged, and its process has ended. *id is
 * overwritten. */
static bool is_over(const struct found *f, const struct target_segment *s, struct read_identity *id)
{
	struct target_segment probe = *s;

	return read_owner_of_file(s->path, id) == 0 &&
	       (id->state == HT_STATE_EXITED ||
		       (process_find(f, id, &probe) == -ESRCH && !is_being_prepared(id)));
}

/* The reason why it cannot be read, without the path in front. *id is overwritten. */
static void unreadable_fill(const struct found *f, struct target_segment *s,
	struct read_identity *id, const char *message)
{
	size_t path = strlen(s->path);
	const char *why = message;

	if (strncmp(message, s->path, path) == 0 && strncmp(message + path, ": ", 2) == 0)
		why += path + 2;
	s->state = TARGET_UNREADABLE;
	unfinished_fill(s);
	if (s->rest) {
		why = "its creator was killed (heaptop --clean removes it)";
	} else if (s->process > 0) {
		why = "still being created";
	} else if (is_over(f, s, id)) {
		s->rest = true;
		why = "not readable here, but its process has ended (heaptop --clean removes it)";
	}
	text_clean(s->why, sizeof(s->why), why, strlen(why));
}

static void segment_fill(const struct found *f, struct target_segment *s)
{
	char message[READ_MESSAGE_MAX] = "";
	struct read_identity id;
	size_t n;

	if (read_identity_of_file(s->path, &id, message)) {
		unreadable_fill(f, s, &id, message);
		return;
	}
	s->pid = id.pid;
	s->start_ticks = id.start_ticks;
	s->exec_gen = id.exec_gen;
	s->family = id.family;
	s->forked = id.forked;
	strcpy(s->parent, id.parent);
	s->created_ns = id.created_realtime_ns;
	s->pid_namespace = id.pid_namespace;
	s->state = state_of(f, &id, s);
	/* A forked child began with its parent's; a server's workers then say what they are. */
	n = id.forked ? proc_command(s->process, id.start_ticks, id.command, sizeof(id.command))
		      : 0;
	if (n)
		id.command_bytes = (uint32_t)n;
	target_command(s->command, sizeof(s->command), &id);
}

static struct target_segment *found_add(struct found *f)
{
	struct target_segment *items = array_grow(f->items, f->count, &f->cap, sizeof(*items));

	if (!items)
		return NULL;
	f->items = items;
	f->items[f->count] = (struct target_segment){ 0 };
	return &f->items[f->count++];
}

/* Adds one directory entry, if it is a segment of this user. 0 or -ENOMEM. */
static int entry_take(struct found *f, const char *dir, const char *name)
{
	char path[sizeof(((struct target_segment *)0)->path)];
	struct target_segment *s;
	struct stat st;

	if (strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0 ||
		snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
		lstat(path, &st) || !S_ISREG(st.st_mode) || (geteuid() && st.st_uid != geteuid()))
		return 0;
	s = found_add(f);
	if (!s)
		return -ENOMEM;
	strcpy(s->path, path);
	s->memory_bytes = (uint64_t)st.st_blocks * 512;
	segment_fill(f, s);
	return 0;
}

/* A missing directory is empty; an unreadable one is an error. */
static int directory_take(struct found *f, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(dir)))
		err = entry_take(f, path, entry->d_name);
	closedir(dir);
	return err;
}

/* By process, its newest image first. */
static int segment_order(const void *left, const void *right)
{
	const struct target_segment *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->start_ticks != b->start_ticks)
		return a->start_ticks < b->start_ticks ? 1 : -1;
	if (a->pid_namespace != b->pid_namespace)
		return a->pid_namespace < b->pid_namespace ? -1 : 1;
	if (a->exec_gen != b->exec_gen)
		return a->exec_gen < b->exec_gen ? 1 : -1;
	return strcmp(a->path, b->path);
}

/* An image that its process replaced by exec has ended regularly. */
static void images_settle(struct found *f)
{
	for (size_t i = 1; i < f->count; i++) {
		struct target_segment *s = &f->items[i], *newer = &f->items[i - 1];
		bool ended = s->state == TARGET_RUNNING || s->state == TARGET_DEAD;

		s->replaced = newer->state != TARGET_UNREADABLE && s->pid > 0 &&
			      s->pid == newer->pid && s->start_ticks == newer->start_ticks &&
			      s->pid_namespace == newer->pid_namespace &&
			      s->exec_gen < newer->exec_gen;
		if (s->replaced && ended)
			s->state = TARGET_EXITED;
	}
}

/* Whether the place in another root is one of our own directories: mounts may be shared. */
static bool is_own(const char *place, const char *const *dirs, unsigned count)
{
	struct stat there, here;

	for (unsigned i = 0; i < count; i++)
		if (stat(place, &there) == 0 && stat(dirs[i], &here) == 0 &&
			there.st_dev == here.st_dev && there.st_ino == here.st_ino)
			return true;
	return false;
}

/* 0 or -errno; the caller frees f->items either way. */
static int found_gather(struct found *f)
{
	const char *dirs[DIRECTORIES_MAX], *places[PLACES_MAX];
	unsigned count = directories_list(prepare_variable, dirs), failed = 0, others;
	int err, last = 0;

	*f = (struct found){ 0 };
	f->boot_known = proc_boot_id(f->boot_id);
	for (unsigned i = 0; i < count; i++) {
		err = directory_take(f, dirs[i]);
		failed += err != 0;
		last = err ? err : last;
	}
	/* One directory that the library could not have used either must not hide the other. */
	if (failed == count)
		return last;
	others = places_list(places);
	for (unsigned i = 0; i < others; i++)
		if (!is_own(places[i], dirs, count))
			(void)directory_take(f, places[i]);
	if (f->count)
		qsort(f->items, f->count, sizeof(*f->items), segment_order);
	images_settle(f);
	return 0;
}

int target_list(int (*visit)(void *ctx, const struct target_segment *s), void *ctx)
{
	struct found f;
	int result = found_gather(&f);

	for (size_t i = 0; !result && i < f.count; i++)
		if (visit(ctx, &f.items[i]))
			break;
	if (!result)
		result = (int)f.count;
	free(f.items);
	return result;
}

int target_clean(void)
{
	struct found f;
	int result = found_gather(&f), removed = 0;

	for (size_t i = 0; !result && i < f.count; i++) {
		const struct target_segment *s = &f.items[i];

		if (s->state == TARGET_DEAD || s->state == TARGET_EXITED ||
			s->state == TARGET_OUTSIDE || s->rest)
			removed += read_remove_file(s->path);
	}
	free(f.items);
	return result ? result : removed;
}

bool target_is_ending(pid_t pid)
{
	return proc_is_ending(pid);
}

/* A process without any mappings is exiting, unless it still has an executable afterwards. */
bool target_execed_unrecorded(const struct target_segment *s)
{
	char link[64], exe[HT_PATH_MAX], message[READ_MESSAGE_MAX];
	struct read_identity id;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)proc_memory_tid(s->process));
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n <= 0 || read_identity_of_file(s->path, &id, message) != 0 ||
		id.state != HT_STATE_RUNNING)
		return false;
	exe[n] = '\0';
	return id.exe[0] && strcmp(exe, id.exe) != 0 &&
	       proc_maps_name(s->process, strrchr(s->path, '/') + 1) == 0 &&
	       readlink(link, exe, sizeof(exe) - 1) > 0;
}
