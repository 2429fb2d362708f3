/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the facts about an executable on which src/target/check.c decides. Every offset in the file
 * is used only to pread from it, every count is bounded, so that a hostile file costs a wrong
 * answer at worst. Only files of our own machine and those of i386 on x86-64 are read beyond their
 * first bytes: no others are traced.
 */
#include "src/target/executable.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD_BYTES    256 /* the kernel reads as many for "#!" (BINPRM_BUF_SIZE) */
#define SEGMENTS_MAX  96 /* real files have about 13 */
#define DYNAMIC_MAX   4096 /* entries; real files have tens */
#define CHAIN_MAX     4096 /* symbols in one hash bucket; real files have a few */
#define NAME_MAX_READ 64 /* more than the longest sanitizer name */

#if __SIZEOF_POINTER__ == 8
#define NATIVE_CLASS ELFCLASS64
#else
#define NATIVE_CLASS ELFCLASS32
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE_DATA ELFDATA2LSB
#else
#define NATIVE_DATA ELFDATA2MSB
#endif
#if defined(__x86_64__)
#define NATIVE_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NATIVE_MACHINE EM_AARCH64
#elif defined(__riscv)
#define NATIVE_MACHINE EM_RISCV
#elif defined(__i386__)
#define NATIVE_MACHINE EM_386
#else
#error "which EM_ constant is this machine?"
#endif

/* A shared runtime is a DT_NEEDED library; a static one gives the program these symbols. */
static const struct {
	const char *library, *symbol, *name;
} sanitizers[] = {
	{ "libasan.so", "__asan_init", "AddressSanitizer" },
	{ "libclang_rt.asan", "__asan_init", "AddressSanitizer" },
	{ "libhwasan.so", "__hwasan_init", "HWAddressSanitizer" },
	{ "libtsan.so", "__tsan_init", "ThreadSanitizer" },
	{ "liblsan.so", "__lsan_init", "LeakSanitizer" },
	{ "libmsan.so", "__msan_init", "MemorySanitizer" },
};

#define SANITIZERS (sizeof(sanitizers) / sizeof(sanitizers[0]))

/* The dynamic section; addresses become file offsets in `dynamic_place`. */
struct dynamic {
	uint64_t strings, symbols;
	uint64_t gnu_hash;
	bool soname;
};

struct reader {
	int fd;
	bool narrow; /* of i386, for a reader of 64 bits: see the functions that read its structs */
	ElfW(Phdr) segments[SEGMENTS_MAX];
	unsigned count;
	struct dynamic dynamic;
	uint64_t dynamic_offset, dynamic_bytes;
};

/* Exactly `bytes` at `offset`, or false. */
static bool read_at(int fd, void *out, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, out, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* A string of at most cap - 1 bytes, cut at the end of the file. */
static void string_at(int fd, char *out, size_t cap, uint64_t offset)
{
	ssize_t n = offset <= INT64_MAX ? pread(fd, out, cap - 1, (off_t)offset) : 0;

	out[n > 0 ? n : 0] = '\0';
}

static void script_read(const char *head, struct executable *out)
{
	size_t n;

	head += 2;
	head += strspn(head, " \t");
	n = strcspn(head, " \t\n");
	if (n >= sizeof(out->interpreter))
		n = sizeof(out->interpreter) - 1;
	memcpy(out->interpreter, head, n);
	out->interpreter[n] = '\0';
}

/* The file offset of the address `vaddr`; 0: the file has none. */
static uint64_t file_offset(const struct reader *r, uint64_t vaddr)
{
	for (unsigned i = 0; i < r->count; i++) {
		const ElfW(Phdr) *p = &r->segments[i];

		if (p->p_type == PT_LOAD && vaddr >= p->p_vaddr && vaddr - p->p_vaddr < p->p_filesz)
			return vaddr - p->p_vaddr + p->p_offset;
	}
	return 0;
}

/* Reads the program headers of a file of 32 bits, one by one: few programs have any. */
static bool narrow_headers_read(struct reader *r)
{
	Elf32_Phdr p;
	Elf32_Ehdr h;

	if (!read_at(r->fd, &h, sizeof(h), 0) || h.e_phentsize != sizeof(p) ||
		h.e_phnum > SEGMENTS_MAX || !h.e_phnum)
		return false;
	r->count = h.e_phnum;
	for (unsigned i = 0; i < r->count; i++) {
		if (!read_at(r->fd, &p, sizeof(p), (uint64_t)h.e_phoff + i * sizeof(p)))
			return false;
		r->segments[i] = (ElfW(Phdr)){ .p_type = p.p_type,
			.p_offset = p.p_offset,
			.p_vaddr = p.p_vaddr,
			.p_filesz = p.p_filesz };
	}
	return true;
}

static bool headers_read(struct reader *r)
{
	ElfW(Ehdr) h;

	if (r->narrow)
		return narrow_headers_read(r);
	if (!read_at(r->fd, &h, sizeof(h), 0) || h.e_phentsize != sizeof(r->segments[0]) ||
		h.e_phnum > SEGMENTS_MAX || !h.e_phnum)
		return false;
	r->count = h.e_phnum;
	return read_at(r->fd, r->segments, r->count * sizeof(r->segments[0]), h.e_phoff);
}

static bool segments_read(struct reader *r, struct executable *out)
{
	if (!headers_read(r))
		return false;
	for (unsigned i = 0; i < r->count; i++) {
		const ElfW(Phdr) *p = &r->segments[i];

		if (p->p_type == PT_INTERP)
			string_at(r->fd, out->interpreter, sizeof(out->interpreter), p->p_offset);
		if (p->p_type == PT_DYNAMIC) {
			r->dynamic_offset = p->p_offset;
			r->dynamic_bytes = p->p_filesz;
		}
	}
	return true;
}

static const char *sanitizer_library(const struct reader *r, uint64_t name)
{
	char library[NAME_MAX_READ];

	string_at(r->fd, library, sizeof(library), r->dynamic.strings + name);
	for (size_t i = 0; i < SANITIZERS; i++)
		if (!strncmp(library, sanitizers[i].library, strlen(sanitizers[i].library)))
			return sanitizers[i].name;
	return NULL;
}

/* Notes where the tables are. Addresses are not relocated in the file, so they become offsets. */
static void dynamic_place(struct reader *r, const ElfW(Dyn) * d)
{
	struct dynamic *to = &r->dynamic;

	switch (d->d_tag) {
	case DT_STRTAB:
		to->strings = file_offset(r, d->d_un.d_ptr);
		break;
	case DT_SYMTAB:
		to->symbols = file_offset(r, d->d_un.d_ptr);
		break;
	case DT_GNU_HASH:
		to->gnu_hash = file_offset(r, d->d_un.d_ptr);
		break;
	case DT_SONAME:
		to->soname = true;
		break;
	default:
		break;
	}
}

static bool dynamic_entry(const struct reader *r, uint64_t at, ElfW(Dyn) * out)
{
	Elf32_Dyn d;

	if (!r->narrow)
		return read_at(r->fd, out, sizeof(*out), at);
	if (!read_at(r->fd, &d, sizeof(d), at))
		return false;
	out->d_tag = d.d_tag;
	out->d_un.d_val = d.d_un.d_val;
	return true;
}

/* Visits each entry twice: first to find the tables, then, with the strings known, the libraries.
 */
static void dynamic_read(struct reader *r, struct executable *out, bool names)
{
	uint64_t size = r->narrow ? sizeof(Elf32_Dyn) : sizeof(ElfW(Dyn));
	uint64_t count = r->dynamic_bytes / size;
	ElfW(Dyn) d;

	for (uint64_t i = 0; i < count && i < DYNAMIC_MAX; i++) {
		if (!dynamic_entry(r, r->dynamic_offset + i * size, &d) || d.d_tag == DT_NULL)
			return;
		if (!names)
			dynamic_place(r, &d);
		else if (d.d_tag == DT_NEEDED && !out->sanitizer)
			out->sanitizer = sanitizer_library(r, d.d_un.d_val);
	}
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool symbol_named(const struct reader *r, uint32_t index, const char *name)
{
	/* st_name is the first word in both classes. */
	uint64_t size = r->narrow ? sizeof(Elf32_Sym) : sizeof(ElfW(Sym));
	char got[NAME_MAX_READ];
	uint32_t at;

	if (!read_at(r->fd, &at, sizeof(at), r->dynamic.symbols + (uint64_t)index * size))
		return false;
	string_at(r->fd, got, sizeof(got), r->dynamic.strings + at);
	return !strcmp(got, name);
}

/*
 * Whether the program itself defines the symbol `name`. Uses DT_GNU_HASH, whose layout
 * is header {buckets, first symbol, bloom words, shift}, bloom, buckets, then one hash per symbol
 * with its lowest bit set at the end of a chain.
 */
static bool symbol_defined(const struct reader *r, const char *name)
{
	uint32_t header[4], hash = gnu_hash(name), index, entry;
	uint64_t buckets, chains;

	if (!r->dynamic.gnu_hash || !r->dynamic.symbols || !r->dynamic.strings ||
		!read_at(r->fd, header, sizeof(header), r->dynamic.gnu_hash) || !header[0])
		return false;
	buckets = r->dynamic.gnu_hash + sizeof(header) +
		  (uint64_t)header[2] * (r->narrow ? sizeof(Elf32_Addr) : sizeof(ElfW(Addr)));
	chains = buckets + (uint64_t)header[0] * 4;
	if (!read_at(r->fd, &index, 4, buckets + (uint64_t)(hash % header[0]) * 4) ||
		index < header[1])
		return false;
	for (unsigned step = 0; step < CHAIN_MAX; step++, index++) {
		if (!read_at(r->fd, &entry, 4, chains + (uint64_t)(index - header[1]) * 4))
			return false;
		if ((entry | 1) == (hash | 1) && symbol_named(r, index, name))
			return true;
		if (entry & 1)
			return false;
	}
	return false;
}

static void elf_read(int fd, struct executable *out)
{
	struct reader r = { .fd = fd, .narrow = out->narrow };

	if (!segments_read(&r, out)) {
		if (out->native)
			out->kind = EXECUTABLE_OTHER;
		return;
	}
	dynamic_read(&r, out, false);
	out->loader = !out->interpreter[0] && r.dynamic.soname;
	dynamic_read(&r, out, true);
	for (size_t i = 0; i < SANITIZERS && !out->sanitizer; i++)
		if (symbol_defined(&r, sanitizers[i].symbol))
			out->sanitizer = sanitizers[i].name;
}

static unsigned machine_read(const unsigned char *head)
{
	unsigned first = head[18], second = head[19];

	return head[EI_DATA] == ELFDATA2MSB ? first << 8 | second : second << 8 | first;
}

int executable_read(int fd, struct executable *out)
{
	unsigned char head[HEAD_BYTES + 1];
	ssize_t n = pread(fd, head, HEAD_BYTES, 0);

	if (n < 0)
		return -errno;
	head[n] = '\0';
	*out = (struct executable){ .kind = EXECUTABLE_OTHER };
	if (n >= 2 && head[0] == '#' && head[1] == '!') {
		out->kind = EXECUTABLE_SCRIPT;
		script_read((const char *)head, out);
	} else if (n >= 20 && !memcmp(head, ELFMAG, SELFMAG)) {
		out->kind = EXECUTABLE_ELF;
		out->bits = head[EI_CLASS] == ELFCLASS32 ? 32 : 64;
		out->machine = machine_read(head);
		out->native = head[EI_CLASS] == NATIVE_CLASS && head[EI_DATA] == NATIVE_DATA &&
			      out->machine == NATIVE_MACHINE;
		out->narrow = NATIVE_MACHINE == EM_X86_64 && out->bits == 32 &&
			      head[EI_DATA] == NATIVE_DATA && out->machine == EM_386;
		if (out->native || out->narrow)
			elf_read(fd, out);
	} else if (!memchr(head, '\0', (size_t)n)) {
		out->kind = EXECUTABLE_TEXT;
	}
	return 0;
}

/* The refusals, in the order in which they are checked. */
static bool is_narrow(const struct executable *i)
{
	return i->narrow;
}

static bool is_foreign_class(const struct executable *i)
{
	return !i->native && !i->narrow && i->bits != sizeof(void *) * 8;
}

static bool is_foreign(const struct executable *i)
{
	return !i->native && !i->narrow;
}

static bool is_static(const struct executable *i)
{
	return !i->interpreter[0] && !i->loader;
}

static bool is_musl(const struct executable *i)
{
	return strstr(i->interpreter, "/ld-musl-") != NULL;
}

static bool is_sanitized(const struct executable *i)
{
	return i->sanitizer != NULL;
}

static const struct refusal {
	bool (*is)(const struct executable *i);
	const char *why, *brief;
} refusals[] = {
	{ is_narrow,
		"is a 32-bit program, and heaptop was built without a recorder for those (install "
		"gcc-multilib and build it again)",
		"32-bit, and there is no 32-bit recorder" },
#if __SIZEOF_POINTER__ == 8
	{ is_foreign_class, "is a 32-bit program, and this heaptop is 64-bit", "a 32-bit program" },
#else
	{ is_foreign_class, "is a 64-bit program, and this heaptop is 32-bit", "a 64-bit program" },
#endif
	{ is_foreign, "is built for another kind of machine", "built for another machine" },
	{ is_static, "is statically linked, so nothing can be preloaded; link it dynamically",
		"statically linked" },
	{ is_musl, "uses the musl C library, and libheaptop.so needs glibc",
		"uses musl, not glibc" },
	{ is_sanitized,
		"is built with a sanitizer that brings its own malloc; build it "
		"without -fsanitize",
		"built with a sanitizer" },
};

static const struct refusal *refusal_of(const struct executable *image, bool narrow)
{
	if (image->kind != EXECUTABLE_ELF)
		return NULL;
	/* The first is the one that a recorder for 32-bit programs makes void. */
	for (size_t i = narrow ? 1 : 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].is(image))
			return &refusals[i];
	return NULL;
}

const char *executable_refusal(const struct executable *image, bool narrow)
{
	const struct refusal *r = refusal_of(image, narrow);

	return r ? r->why : NULL;
}

const char *executable_refusal_brief(const struct executable *image, bool narrow)
{
	const struct refusal *r = refusal_of(image, narrow);

	return r ? r->brief : NULL;
}
