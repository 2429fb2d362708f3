/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Core files made by hand: what is read of them, and that none that is damaged or cut short is
 * trusted. Cores of real programs are in tests/e2e/cores.py. */
#include <elf.h>
#include <fcntl.h>
#include <sys/procfs.h>
#include <unistd.h>
#include "src/core/maps.h"
#include "src/core/missing.h"
#include "src/core/objects.h"
#include "src/core/open.h"
#include "src/leak/access/space.h"
#include "src/memory/vmas.h"
#include "src/run/options.h"
#include "tests/check.h"

#define LOADS	 4u
#define HEAD	 (sizeof(Elf64_Ehdr) + (LOADS + 1) * sizeof(Elf64_Phdr))
#define NOTES_AT 1024u
#define DATA_AT	 8192u
#define PAGE	 4096u
#define WHOLE	 (DATA_AT + 3 * PAGE)

#define HEAP	  UINT64_C(0x10000000)
#define FILE_AT	  UINT64_C(0x20000000)
#define STACK	  UINT64_C(0x30000000)
#define UNTOUCHED UINT64_C(0x40000000)

struct made {
	_Alignas(8) unsigned char bytes[WHOLE];
	size_t notes;
	char path[64];
};

static Elf64_Ehdr *head(struct made *m)
{
	return (Elf64_Ehdr *)(void *)m->bytes;
}

static Elf64_Phdr *load(struct made *m, unsigned i)
{
	return (Elf64_Phdr *)(void *)(m->bytes + sizeof(Elf64_Ehdr)) + 1 + i;
}

static void note_add(
	struct made *m, const char *name, uint32_t type, const void *desc, size_t bytes)
{
	Elf64_Nhdr h = { (uint32_t)strlen(name) + 1, (uint32_t)bytes, type };
	unsigned char *at = m->bytes + NOTES_AT + m->notes;

	memcpy(at, &h, sizeof(h));
	memcpy(at + sizeof(h), name, h.n_namesz);
	memcpy(at + sizeof(h) + (h.n_namesz + 3) / 4 * 4, desc, bytes);
	m->notes += sizeof(h) + (h.n_namesz + 3) / 4 * 4 + (bytes + 3) / 4 * 4;
}

static void thread_add(struct made *m, pid_t tid, int signal, uint64_t sp)
{
	struct user_regs_struct regs = { .rsp = sp };
	struct elf_prstatus s = { .pr_pid = tid, .pr_cursig = (short)signal };

	memcpy(&s.pr_reg, &regs, sizeof(regs));
	note_add(m, "CORE", NT_PRSTATUS, &s, sizeof(s));
}

static void files_add(struct made *m, uint64_t count, const char *path)
{
	uint64_t words[16] = { count, PAGE, FILE_AT, FILE_AT + 2 * PAGE, 0 };

	snprintf((char *)&words[5], sizeof(words) - 5 * sizeof(*words), "%s", path);
	note_add(m, "CORE", NT_FILE, words, 5 * sizeof(*words) + strlen(path) + 1);
}

static void made_write(struct made *m, size_t bytes)
{
	int fd = open(m->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	CHECK(fd >= 0 && write(fd, m->bytes, bytes) == (ssize_t)bytes);
	close(fd);
}

/* Two threads; a heap and a stack of a page each, half of a file's two, and one page that was never
 * touched. */
static void made_begin(struct made *m, const char *file)
{
	const uint64_t auxv[] = { AT_RANDOM, STACK + 128, AT_NULL, 0 };
	const Elf64_Phdr loads[LOADS] = {
		{ PT_LOAD, PF_R | PF_W, DATA_AT, HEAP, 0, PAGE, PAGE, PAGE },
		{ PT_LOAD, PF_R, DATA_AT + PAGE, FILE_AT, 0, PAGE, 2 * PAGE, PAGE },
		{ PT_LOAD, PF_R | PF_W, DATA_AT + 2 * PAGE, STACK, 0, PAGE, PAGE, PAGE },
		{ PT_LOAD, PF_R | PF_W, WHOLE, UNTOUCHED, 0, 0, PAGE, PAGE },
	};
	struct elf_prpsinfo info = { .pr_pid = 41, .pr_fname = "made" };

	memset(m, 0, sizeof(*m));
	*head(m) = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = LOADS + 1 };
	for (unsigned i = 0; i < LOADS; i++)
		*load(m, i) = loads[i];
	thread_add(m, 42, 11, STACK + 64);
	note_add(m, "CORE", NT_PRPSINFO, &info, sizeof(info));
	note_add(m, "CORE", NT_AUXV, auxv, sizeof(auxv));
	files_add(m, 1, file);
	thread_add(m, 43, 0, HEAP + 8);
	*(load(m, 0) - 1) =
		(Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = NOTES_AT, .p_filesz = m->notes };
	for (unsigned i = 0; i < 3 * PAGE; i++)
		m->bytes[DATA_AT + i] = (unsigned char)(i / PAGE + 1);
	snprintf(m->path, sizeof(m->path), "%s/core.XXXXXX", check_memory());
	close(mkstemp(m->path));
}

static struct core *opened(struct made *m, size_t bytes, char *message)
{
	made_write(m, bytes);
	return core_open(m->path, message);
}

static void check_refused(struct made *m, size_t bytes, const char *why)
{
	char message[CORE_MESSAGE_MAX];
	struct core *c = opened(m, bytes, message);

	CHECK(c == NULL && strstr(message, why) && !strchr(message, '\n'));
	if (c || !strstr(message, why))
		fprintf(stderr, "  %s, not %s\n", message, why);
	core_close(c);
}

TEST(what_a_core_has_is_read)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX], text[128];
	unsigned char buf[2 * PAGE];
	struct core *c;

	made_begin(&m, "/nonexistent/file");
	c = opened(&m, WHOLE, message);
	CHECK(c != NULL && core_is(m.path));
	CHECK(c->pid == 41 && c->signal == 11 && c->threads == 2 && c->loads == LOADS);
	CHECK(c->thread[0].tid == 42 && c->thread[1].regs.rsp == HEAP + 8);
	CHECK_STR(c->command, "made");
	CHECK_INT(core_read(c, HEAP + 8, buf, 16), 16);
	CHECK(buf[0] == 1 && buf[15] == 1);
	CHECK_INT(core_read(c, HEAP + PAGE - 8, buf, 16), 8); /* there is nothing behind it */
	CHECK_INT(core_read(c, HEAP - 8, buf, 8), -1);
	CHECK_INT(core_read(c, FILE_AT, buf, 2 * PAGE), PAGE); /* the file is not here */
	CHECK_INT(core_read(c, UNTOUCHED, buf, 8), 8);
	CHECK_INT(buf[0], 0);
	core_missing_text(c, text, sizeof(text));
	CHECK(strstr(text, "/nonexistent/file") && strstr(text, "4.0k were never touched"));
	core_close(c);
	unlink(m.path);
}

TEST(what_the_core_leaves_out_comes_from_the_file)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX];
	unsigned char buf[2 * PAGE] = { 0 };
	char file[64];
	struct core *c;
	int fd;

	snprintf(file, sizeof(file), "%s/mapped.XXXXXX", check_memory());
	fd = mkstemp(file);
	memset(buf + PAGE, 7, PAGE);
	CHECK(write(fd, buf, sizeof(buf)) == sizeof(buf));
	close(fd);
	made_begin(&m, file);
	c = opened(&m, WHOLE, message);
	CHECK(c && core_read(c, FILE_AT, buf, 2 * PAGE) == 2 * PAGE);
	CHECK(buf[0] == 2 && buf[PAGE] == 7); /* the core's page wins over the file's */
	core_close(c);
	/* An ELF file's first page is another one. */
	memcpy(m.bytes + DATA_AT + PAGE, ELFMAG, SELFMAG);
	c = opened(&m, WHOLE, message);
	CHECK(c && c->objects == 1 && c->object[0].changed);
	CHECK(c && core_read(c, FILE_AT, buf, 2 * PAGE) == PAGE);
	core_close(c);
	unlink(file);
	unlink(m.path);
}

TEST(parts_without_data_are_skipped)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX];
	struct core_range r;
	struct core *c;

	made_begin(&m, "/nonexistent/file");
	c = opened(&m, WHOLE, message);
	CHECK(c && core_next(c, 0, UINT64_MAX, &r) && r.start == HEAP && r.end == HEAP + PAGE);
	CHECK(c && core_next(c, HEAP + PAGE, UINT64_MAX, &r) && r.start == FILE_AT && r.own);
	CHECK(c && core_next(c, r.end, UINT64_MAX, &r) && r.start == FILE_AT + PAGE && !r.known);
	CHECK(c && core_next(c, r.end, UINT64_MAX, &r) && r.start == STACK && r.known);
	CHECK(c && !core_next(c, r.end, UINT64_MAX, &r));
	core_close(c);
	unlink(m.path);
}

TEST(mappings_are_as_proc_has_them)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX];
	size_t len = 0;
	struct core *c;
	char *text;

	made_begin(&m, "/nonexistent/a\nb");
	c = opened(&m, WHOLE, message);
	text = c ? core_maps_text(c, &len) : NULL;
	CHECK(text && strstr(text, "10000000-10001000 rw-p 00000000 00:00 0\n"));
	CHECK(text &&
		strstr(text, "20000000-20002000 r--p 00000000 00:01 1 /nonexistent/a\\012b\n"));
	CHECK(text && strstr(text, "30000000-30001000 rw-p 00000000 00:00 0 [stack]\n"));
	CHECK(text && len == strlen(text));
	free(text);
	core_close(c);
	unlink(m.path);
}

#define LARGE	UINT64_C(65536)
#define PROGRAM UINT64_C(0x50000000)

/* Headers as a linker writes them for a program whose code is in the file's first 64 KB, and whose
 * memory ends in the middle of its last page. */
static void program_write(unsigned char *to)
{
	const Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1 },
		.e_phoff = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 3 };
	const Elf64_Phdr p[] = {
		{ .p_type = PT_PHDR, .p_vaddr = sizeof(h) },
		{ PT_LOAD, PF_R | PF_X, 0x1000, 0x1000, 0, 0x100, 0x100, LARGE },
		{ PT_LOAD, PF_R | PF_W, 0x2000, LARGE + 0x2000, 0, 0x100, LARGE + 0x100, LARGE },
	};

	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), p, sizeof(p));
}

/* A core of a kernel with pages of 64 KB: code from the file's begin on, data, which are in the
 * file only, the rest of .bss, the heap, and memory with a page's gap below. */
static void large_begin(struct made *m, const char *file)
{
	const uint64_t auxv[] = { AT_PAGESZ, LARGE, AT_PHDR, PROGRAM + sizeof(Elf64_Ehdr), AT_PHNUM,
		3, AT_RANDOM, STACK + 128, AT_NULL, 0 };
	const Elf64_Phdr loads[LOADS] = {
		{ PT_LOAD, PF_R, DATA_AT, PROGRAM, 0, PAGE, LARGE, LARGE },
		{ PT_LOAD, PF_R | PF_W, WHOLE, PROGRAM + 2 * LARGE, 0, 0, LARGE, LARGE },
		{ PT_LOAD, PF_R | PF_W, WHOLE, PROGRAM + 4 * LARGE, 0, 0, LARGE, LARGE },
		{ PT_LOAD, PF_R | PF_W, WHOLE, PROGRAM + 6 * LARGE, 0, 0, LARGE, LARGE },
	};
	uint64_t words[32] = { 2, LARGE, PROGRAM, PROGRAM + LARGE, 0, PROGRAM + LARGE,
		PROGRAM + 2 * LARGE, 0 };
	size_t len = strlen(file) + 1, head = 8 * sizeof(*words);

	made_begin(m, file);
	m->notes = 0;
	thread_add(m, 42, 11, STACK + 64);
	note_add(m, "CORE", NT_AUXV, auxv, sizeof(auxv));
	for (size_t i = 0; i < 2; i++)
		memcpy((char *)words + head + i * len, file, len);
	note_add(m, "CORE", NT_FILE, words, head + 2 * len);
	*(load(m, 0) - 1) =
		(Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = NOTES_AT, .p_filesz = m->notes };
	for (unsigned i = 0; i < LOADS; i++)
		*load(m, i) = loads[i];
	memset(m->bytes + DATA_AT, 0, PAGE);
	program_write(m->bytes + DATA_AT);
}

TEST(pages_have_the_size_that_the_core_says)
{
	char message[CORE_MESSAGE_MAX], file[64];
	static struct made m;
	size_t len = 0;
	struct core *c;
	char *text;
	int fd;

	snprintf(file, sizeof(file), "%s/program.XXXXXX", check_memory());
	fd = mkstemp(file);
	large_begin(&m, file);
	CHECK(write(fd, m.bytes + DATA_AT, PAGE) == (ssize_t)PAGE);
	close(fd);
	c = opened(&m, WHOLE, message);
	CHECK(c && c->page == LARGE);
	text = c ? core_maps_text(c, &len) : NULL;
	/* Its code begins at 4 KB of the file, and is mapped from its begin on. */
	CHECK(c && core_objects_is_code(c, &c->file[0]));
	CHECK(text && strstr(text, "50010000-50020000 r-xp 00000000 00:01 1 "));
	/* What follows the data up to their last page's end is no heap. */
	CHECK(text && strstr(text, "50020000-50030000 rw-p 00000000 00:00 0\n"));
	CHECK(text && strstr(text, "50040000-50050000 rw-p 00000000 00:00 0 [heap]\n"));
	/* A gap of a page is a guard, of a page. */
	CHECK(text && strstr(text, "50050000-50060000 ---p 00000000 00:00 0\n"));
	free(text);
	core_close(c);
	unlink(file);
	unlink(m.path);
}

/* What the kernel shows apart is .bss up to its last page's end. */
TEST(bss_ends_with_a_page_of_that_size)
{
	struct leak_space space = { .pagemap = -1 };
	char message[CORE_MESSAGE_MAX], *text;
	static struct made m;
	struct vmas v = { 0 };
	bool is_own = false;
	struct core *c;
	size_t len = 0;

	large_begin(&m, "/nonexistent/program");
	c = opened(&m, WHOLE, message);
	text = c ? core_maps_text(c, &len) : NULL;
	CHECK(text && vmas_parse(&v, text, len) == 0 && leak_space_open_core(&space, c) == 0);
	CHECK(v.count > 2 && v.vma[2].start == PROGRAM + 2 * LARGE);
	CHECK_INT(vmas_bss_end(&v, 2, &space, &is_own), PROGRAM + 3 * LARGE);
	leak_space_close(&space);
	vmas_free(&v);
	free(text);
	core_close(c);
	unlink(m.path);
}

TEST(a_size_of_pages_that_lies_is_not_believed)
{
	static const uint64_t sizes[] = { 1, 4095, 5000, UINT64_C(1) << 40, UINT64_MAX };
	char message[CORE_MESSAGE_MAX];
	static struct made m;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const uint64_t auxv[] = { AT_PAGESZ, sizes[i], AT_NULL, 0 };
		struct core *c;

		made_begin(&m, "/nonexistent/file");
		note_add(&m, "CORE", NT_AUXV, auxv, sizeof(auxv));
		(load(&m, 0) - 1)->p_filesz = m.notes;
		c = opened(&m, WHOLE, message);
		CHECK(c && c->page == PAGE);
		core_close(c);
		unlink(m.path);
	}
}

/* With every length the core is read as far as it goes, or refused in words. */
TEST(any_cut_is_survived)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX], text[256];
	unsigned char buf[64];
	size_t len, opens = 0;

	made_begin(&m, "/nonexistent/file");
	for (size_t bytes = 0; bytes < WHOLE; bytes += 97) {
		struct core *c = opened(&m, bytes, message);

		CHECK(c || *message);
		if (!c)
			continue;
		opens++;
		core_missing_text(c, text, sizeof(text));
		CHECK(strstr(text, "cut short") != NULL);
		CHECK(bytes > DATA_AT || core_read(c, HEAP, buf, sizeof(buf)) < 0);
		free(core_maps_smaps(c, &len));
		core_close(c);
	}
	CHECK(opens > 100);
	unlink(m.path);
}

TEST(what_is_no_core_is_refused_in_words)
{
	static struct made m;

	made_begin(&m, "/x");
	check_refused(&m, 0, "cut short within its header");
	check_refused(&m, HEAD - 1, "cut short within its program headers");
	check_refused(&m, NOTES_AT, "no thread's registers");
	head(&m)->e_type = ET_DYN;
	check_refused(&m, WHOLE, "not a core file");
	head(&m)->e_machine = EM_ARM;
	check_refused(&m, WHOLE, "another kind of processor");
	head(&m)->e_ident[EI_CLASS] = ELFCLASS32;
	check_refused(&m, WHOLE, "32-bit");
	memcpy(m.bytes, "\x28\xb5\x2f\xfd", 4);
	check_refused(&m, WHOLE, "decompress it first (zstd -d FILE)");
	CHECK(core_is(m.path));
	memcpy(m.bytes, "text", 4);
	check_refused(&m, WHOLE, "not a core file");
	CHECK(!core_is(m.path));
	unlink(m.path);
}

TEST(lies_are_not_believed)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX];
	unsigned char buf[64];
	struct core *c;

	made_begin(&m, "/x");
	*load(&m, 1) = *load(&m, 0); /* twice the same memory */
	load(&m, 2)->p_filesz = UINT64_MAX; /* more than there can be */
	load(&m, 3)->p_vaddr = UINT64_MAX - 8; /* beyond the end */
	c = opened(&m, WHOLE, message);
	CHECK(c && c->loads == 2);
	CHECK(c && core_read(c, STACK + PAGE - 8, buf, sizeof(buf)) == 8);
	core_close(c);
	load(&m, 0)->p_offset = UINT64_MAX - 16;
	c = opened(&m, WHOLE, message);
	CHECK(c && core_read(c, HEAP, buf, sizeof(buf)) != 0);
	core_close(c);
	head(&m)->e_phoff = UINT64_MAX;
	check_refused(&m, WHOLE, "damaged");
	head(&m)->e_phoff = sizeof(Elf64_Ehdr);
	head(&m)->e_phnum = PN_XNUM; /* counted in a section that is not there */
	check_refused(&m, WHOLE, "damaged");
	unlink(m.path);
}

TEST(a_table_of_files_that_lies_is_left_out)
{
	static struct made m;
	char message[CORE_MESSAGE_MAX];
	struct core *c;

	made_begin(&m, "/x");
	m.notes = 0;
	thread_add(&m, 42, 0, STACK);
	files_add(&m, UINT64_C(1) << 61, "/x"); /* 24 times that is small again */
	files_add(&m, 1, "/y");
	c = opened(&m, WHOLE, message);
	CHECK(c && c->files == 1);
	CHECK_STR(c && c->files ? c->file[0].path : NULL, "/y");
	core_close(c);
	unlink(m.path);
}

static int parse(struct options *o, int argc, const char *const *argv, char *err, size_t cap)
{
	FILE *f = fmemopen(err, cap, "w");
	int status = options_parse(argc, (char *const *)(uintptr_t)argv, o, stdout, f);

	fclose(f);
	return status;
}

TEST(a_core_takes_a_segment)
{
	const char *good[] = { "heaptop", "-r", "core", "segment", "--report", NULL };
	const char *command[] = { "heaptop", "-r", "core", "segment", "x", NULL };
	static struct options o;
	char err[256] = "";

	CHECK_INT(parse(&o, 5, good, err, sizeof(err)), -1);
	CHECK_STR(o.file, "core");
	CHECK_STR(o.account, "segment");
	CHECK(o.report);
	CHECK_INT(parse(&o, 5, command, err, sizeof(err)), OPTIONS_EXIT_USAGE);
}

int main(void)
{
	RUN(what_a_core_has_is_read);
	RUN(what_the_core_leaves_out_comes_from_the_file);
	RUN(parts_without_data_are_skipped);
	RUN(mappings_are_as_proc_has_them);
	RUN(pages_have_the_size_that_the_core_says);
	RUN(bss_ends_with_a_page_of_that_size);
	RUN(a_size_of_pages_that_lies_is_not_believed);
	RUN(any_cut_is_survived);
	RUN(what_is_no_core_is_refused_in_words);
	RUN(lies_are_not_believed);
	RUN(a_table_of_files_that_lies_is_left_out);
	RUN(a_core_takes_a_segment);
	return check_end();
}
