/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which programs a library can be preloaded into: commands are found as execvp finds them, and ELF
 * files made here byte by byte are judged.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "src/target/executable.h"
#include "src/target/privilege.h"
#include "src/target/target.h"
#include "tests/check.h"

#define NOBODY 65534

static char dir[] = "/tmp/heaptop-check.XXXXXX";
static char message[TARGET_MESSAGE_MAX];
static char found[1024];

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static unsigned turn;
	char *to = path[turn++ % 4];

	snprintf(to, sizeof(path[0]), "%s/%s", dir, name);
	return to;
}

/* Makes a file in the test's directory. Its path. */
static const char *file_make(const char *name, const void *bytes, size_t len, unsigned mode)
{
	const char *path = in_dir(name);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	chmod(path, mode);
	return path;
}

static const char *text_make(const char *name, const char *text)
{
	return file_make(name, text, strlen(text), 0755);
}

static int check(const char *command)
{
	message[0] = found[0] = '\0';
	return target_check(command, found, sizeof(found), message);
}

/* The status, and words of the message, which is one line. */
static int refused(const char *command, int want, const char *part)
{
	int status = check(command);
	int good = status == want && strstr(message, part) && !strchr(message, '\n');

	if (!good)
		fprintf(stderr, "  %s: status %d, want %d \"%s\" in: %s\n", command, status, want,
			part, message);
	return good;
}

/* What a made program contains. */
struct parts {
	const char *interpreter, *needed, *soname, *symbol;
};

/* The file: everything in one loaded segment at address 0, so that addresses are offsets. */
struct program {
	Elf64_Ehdr head;
	Elf64_Phdr segments[3];
	Elf64_Dyn dynamic[6];
	Elf64_Sym symbols[2];
	struct {
		uint32_t buckets, first, blooms, shift;
		uint64_t bloom;
		uint32_t bucket, chain;
	} hash;
	char strings[256];
};

/* The hash function of DT_GNU_HASH, told in its other usual way: h * 33 as shift and add. */
static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h += (h << 5) + (uint8_t)*name++;
	return h;
}

static size_t string_put(struct program *p, size_t *used, const char *text)
{
	size_t at = *used;

	strcpy(p->strings + at, text);
	*used += strlen(text) + 1;
	return at;
}

static void segment_put(struct program *p, uint32_t type, size_t offset, size_t bytes)
{
	p->segments[p->head.e_phnum++] = (Elf64_Phdr){
		.p_type = type, .p_offset = offset, .p_vaddr = offset, .p_filesz = bytes
	};
}

static void dynamic_put(struct program *p, unsigned *n, int64_t tag, uint64_t value)
{
	p->dynamic[*n].d_tag = tag;
	p->dynamic[(*n)++].d_un.d_val = value;
}

static void symbol_put(struct program *p, size_t *used, unsigned *entries, const char *name)
{
	p->symbols[1].st_name = (uint32_t)string_put(p, used, name);
	p->hash.buckets = p->hash.first = p->hash.blooms = p->hash.bucket = 1;
	p->hash.chain = hash_of(name) | 1;
	dynamic_put(p, entries, DT_GNU_HASH, offsetof(struct program, hash));
}

static struct program program_build(const struct parts *parts)
{
	struct program p = { .head = { .e_type = ET_DYN,
				     .e_machine = EM_X86_64,
				     .e_phoff = offsetof(struct program, segments),
				     .e_phentsize = sizeof(Elf64_Phdr) } };
	size_t used = 1;
	unsigned entries = 0;

	memcpy(p.head.e_ident, ELFMAG, SELFMAG);
	p.head.e_ident[EI_CLASS] = ELFCLASS64;
	p.head.e_ident[EI_DATA] = ELFDATA2LSB;
	segment_put(&p, PT_LOAD, 0, sizeof(p));
	if (parts->interpreter)
		segment_put(&p, PT_INTERP,
			offsetof(struct program, strings) +
				string_put(&p, &used, parts->interpreter),
			strlen(parts->interpreter) + 1);
	segment_put(&p, PT_DYNAMIC, offsetof(struct program, dynamic), sizeof(p.dynamic));
	/* Names before the table of names: the order in a file is free. */
	if (parts->needed)
		dynamic_put(&p, &entries, DT_NEEDED, string_put(&p, &used, parts->needed));
	if (parts->soname)
		dynamic_put(&p, &entries, DT_SONAME, string_put(&p, &used, parts->soname));
	if (parts->symbol)
		symbol_put(&p, &used, &entries, parts->symbol);
	dynamic_put(&p, &entries, DT_SYMTAB, offsetof(struct program, symbols));
	dynamic_put(&p, &entries, DT_STRTAB, offsetof(struct program, strings));
	return p;
}

static const char *program_make(const char *name, const struct parts *parts)
{
	struct program p = program_build(parts);

	return file_make(name, &p, sizeof(p), 0755);
}

#define GLIBC		"/lib64/ld-linux-x86-64.so.2"
#define MADE(name, ...) program_make(name, &(struct parts){ __VA_ARGS__ })

static int is_x86_64(void)
{
#ifdef __x86_64__
	return 1;
#else
	return 0;
#endif
}

TEST(found_as_execvp_finds)
{
	char path[256];

	CHECK_INT(check("sh"), 0);
	CHECK(strstr(found, "/sh") != NULL);
	CHECK_INT(check("/bin/sh"), 0);
	CHECK_STR(found, "/bin/sh");
	text_make("command-of-test", "#!/bin/sh\n");
	CHECK(refused("command-of-test", 127, "no such command"));
	snprintf(path, sizeof(path), "/nowhere:%s", dir);
	setenv("PATH", path, 1);
	CHECK_INT(check("command-of-test"), 0);
	CHECK_STR(found, in_dir("command-of-test"));
	/* An empty entry of PATH is the current directory. */
	CHECK_INT(chdir(dir), 0);
	setenv("PATH", "/nowhere:", 1);
	CHECK_INT(check("command-of-test"), 0);
	unsetenv("PATH");
	CHECK_INT(check("sh"), 0);
	CHECK_INT(chdir("/"), 0);
}

TEST(what_cannot_be_run)
{
	char path[256];

	CHECK(refused("/no/such/thing", 127, "cannot run /no/such/thing: No such file"));
	CHECK(refused("no-such-thing", 127, "cannot run no-such-thing: no such command"));
	CHECK(refused("", 127, "\"\""));
	CHECK(refused("/etc/passwd", 126, "Permission denied"));
	CHECK(refused("/etc/passwd/x", 127, "Not a directory"));
	CHECK(refused("/", 126, "Is a directory"));
	CHECK(refused("/dev/null", 126, "Permission denied"));
	CHECK(refused("/no\nsuch\033thing", 127, "/no?such?thing"));
	/* Found, but not to be run: 126, unless a later directory of PATH has one that is. */
	file_make("forbidden", "x", 1, 0600);
	snprintf(path, sizeof(path), "%s:/nowhere", dir);
	setenv("PATH", path, 1);
	CHECK(refused("forbidden", 126, "Permission denied"));
	setenv("PATH", "/usr/bin:/bin", 1);
	/* Longer than the buffer. */
	CHECK_INT(target_check("/bin/sh", found, 4, message), 126);
}

TEST(scripts_are_judged_by_interpreter)
{
	char text[300];

	CHECK_INT(check(text_make("good", "#!/bin/sh\necho\n")), 0);
	CHECK_INT(check(text_make("spaces", "#! \t/bin/sh -e\n")), 0);
	CHECK_INT(check(text_make("no-first-line", "echo hello\n")), 0);
	CHECK_INT(check(text_make("empty", "")), 0);
	CHECK(refused(text_make("lost", "#!/no/such/interp -x\n"), 126,
		"its interpreter /no/such/interp: No such file"));
	CHECK(refused(text_make("none", "#!\n"), 126, "Exec format error"));
	snprintf(text, sizeof(text), "#!%s\n", in_dir("loop"));
	CHECK(refused(text_make("loop", text), 126, "Too many levels"));
	snprintf(text, sizeof(text), "#!%s\n", in_dir("good"));
	CHECK_INT(check(text_make("twice", text)), 0);
	if (!is_x86_64())
		return;
	snprintf(text, sizeof(text), "#!%s -x\n", MADE("static-interp", .needed = NULL));
	CHECK(refused(text_make("by-static", text), 125, "statically linked"));
}

TEST(programs)
{
	if (!is_x86_64())
		SKIP("the programs made here are for x86-64");
	CHECK_INT(check(MADE("dynamic", .interpreter = GLIBC, .needed = "libc.so.6")), 0);
	CHECK(refused(MADE("static"), 125, "statically linked"));
	CHECK(refused(MADE("static"), 125, "cannot watch"));
	/* The loader itself has no interpreter but a name: it loads what it is told to, and
	 * preloads. */
	CHECK_INT(check(MADE("ld.so", .soname = "ld-linux-x86-64.so.2")), 0);
	CHECK(refused(MADE("musl", .interpreter = "/lib/ld-musl-x86_64.so.1"), 125, "musl"));
	CHECK(refused(
		MADE("asan", .interpreter = GLIBC, .needed = "libasan.so.8"), 125, "sanitizer"));
	CHECK(refused(
		MADE("tsan", .interpreter = GLIBC, .needed = "libtsan.so.2"), 125, "sanitizer"));
	CHECK(refused(
		MADE("asan-in", .interpreter = GLIBC, .symbol = "__asan_init"), 125, "sanitizer"));
	CHECK_INT(check(MADE("other", .interpreter = GLIBC, .symbol = "__asan_initial")), 0);
}

TEST(sanitizer_is_named)
{
	struct executable image;
	int fd;

	if (!is_x86_64())
		SKIP("the programs made here are for x86-64");
	fd = open(
		MADE("msan", .interpreter = GLIBC, .symbol = "__msan_init"), O_RDONLY | O_CLOEXEC);
	CHECK_INT(executable_read(fd, &image), 0);
	close(fd);
	CHECK_STR(image.sanitizer, "MemorySanitizer");
	CHECK_STR(image.interpreter, GLIBC);
	CHECK(image.native && image.bits == 64);
}

TEST(other_machines)
{
	struct program p = program_build(&(struct parts){ .interpreter = GLIBC });
	Elf32_Ehdr narrow = { .e_type = ET_EXEC, .e_machine = EM_386 };

	if (!is_x86_64())
		SKIP("the programs made here are for x86-64");
	memcpy(narrow.e_ident, p.head.e_ident, EI_NIDENT);
	narrow.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK(refused(file_make("elf32", &narrow, sizeof(narrow), 0755), 125, "32-bit"));
	p.head.e_machine = EM_AARCH64;
	CHECK(refused(file_make("arm", &p, sizeof(p), 0755), 126, "another kind of machine"));
	p.head.e_machine = EM_X86_64;
	p.head.e_ident[EI_DATA] = ELFDATA2MSB;
	CHECK(refused(file_make("big", &p, sizeof(p), 0755), 126, "another kind of machine"));
}

/* Cut off or scribbled over, a program may be misjudged, but never crash the judge. */
TEST(broken_files)
{
	struct program whole = program_build(
		&(struct parts){ .interpreter = GLIBC, .needed = "x", .symbol = "__asan_init" });
	unsigned char bytes[sizeof(whole)];
	unsigned seed = 1;

	CHECK(refused(file_make("random", "\0\1\2\3", 4, 0755), 126, "Exec format error"));
	CHECK(refused(file_make("cut", &whole, 40, 0755), 126, "Exec format error"));
	for (size_t len = 0; len < sizeof(whole); len += 7) {
		int status = check(file_make("cut", &whole, len, 0755));

		CHECK(status == 0 || status == 125 || status == 126);
	}
	for (int round = 0; round < 2000; round++) {
		int status;

		memcpy(bytes, &whole, sizeof(whole));
		for (int change = 0; change < 4; change++) {
			seed = seed * 1103515245 + 12345;
			bytes[20 + (seed >> 8) % (sizeof(bytes) - 20)] = (unsigned char)(seed >> 3);
		}
		status = check(file_make("broken", bytes, sizeof(bytes), 0755));
		CHECK(status == 0 || status == 125 || status == 126);
	}
}

static int suid_counts_here(void)
{
	struct statvfs mount;

	return !statvfs(dir, &mount) && !(mount.f_flag & ST_NOSUID);
}

TEST(setuid_and_setgid)
{
	const char *path;

	if (geteuid() || !suid_counts_here() || !is_x86_64())
		SKIP("needs root and a directory where set-id bits count");
	path = MADE("raised", .interpreter = GLIBC);
	CHECK_INT(chown(path, NOBODY, 0) | chmod(path, 04755), 0);
	CHECK(refused(path, 125, "it is setuid"));
	CHECK_INT(chown(path, 0, NOBODY) | chmod(path, 02755), 0);
	CHECK(refused(path, 125, "it is setgid"));
	CHECK_INT(chmod(path, 02745), 0); /* without the group's x: only a lock, once */
	CHECK_INT(check(path), 0);
	CHECK_INT(chown(path, 0, 0) | chmod(path, 06755), 0);
	CHECK_INT(check(path), 0); /* we are that user and group already */
}

TEST(file_capabilities)
{
	struct vfs_cap_data caps = { .magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = { { .permitted = 1u << CAP_NET_RAW } } };
	const char *path = text_make("capable", "x");
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (!suid_counts_here() || setxattr(path, "security.capability", &caps, sizeof(caps), 0)) {
		close(fd);
		SKIP("cannot set file capabilities here");
	}
	CHECK_STR(privilege_gained(fd, NOBODY, NOBODY), "given file capabilities");
	CHECK(!privilege_gained(fd, 0, 0));
	CHECK_INT(removexattr(path, "security.capability"), 0);
	CHECK(!privilege_gained(fd, NOBODY, NOBODY));
	close(fd);
}

/* The real thing, where it is installed. */
TEST(programs_of_this_machine)
{
	struct executable image;
	int fd;

	fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	CHECK_INT(executable_read(fd, &image), 0);
	close(fd);
	CHECK(image.kind == EXECUTABLE_ELF && image.native && !image.sanitizer && !image.loader);
	CHECK(strstr(image.interpreter, "/ld-") != NULL);
	CHECK(!executable_refusal(&image, false));
}

static void directory_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK_INT(system(command), 0);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	RUN(found_as_execvp_finds);
	RUN(what_cannot_be_run);
	RUN(scripts_are_judged_by_interpreter);
	RUN(programs);
	RUN(sanitizer_is_named);
	RUN(other_machines);
	RUN(broken_files);
	RUN(setuid_and_setgid);
	RUN(file_capabilities);
	RUN(programs_of_this_machine);
	directory_remove();
	return check_end();
}
