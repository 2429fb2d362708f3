/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses to names. A worker thread owns libdw; the viewer's main thread asks and collects, and
 * never waits unless it says so (sym_drain). Programs that are watched together share a worker and
 * what it has read (sym_join): children of a fork cost no second look at libc. Sources of names, in
 * this order: DWARF of the file itself, of its .gnu_debuglink file, of
 * /usr/lib/debug/.build-id/xx/yyyy.debug; then .symtab; then .dynsym. debuginfod is asked only when
 * `use_debuginfod`. Names are demangled (libiberty, C++ and Rust) and cleaned of control bytes. All
 * strings live until sym_free of the last that shares the worker.
 */
#ifndef SRC_SYM_SYM_H
#define SRC_SYM_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sym; /* one program's questions and answers */

struct sym_options {
	bool use_debuginfod;
	const char *debug_dir; /* NULL: /usr/lib/debug */
	const char *root; /* prefix for module paths ("/proc/PID/root"), or NULL */
};

/* An object file that was mapped in the program. */
struct sym_module {
	uint32_t id; /* the caller's; requests name it */
	const char *path; /* as the program saw it */
	const uint8_t *build_id; /* NULL when the program's copy had none */
	size_t build_id_len; /* bytes; a file whose build-id differs is refused (names would be
				wrong) */
};

struct sym_frame {
	const char *function; /* demangled; NULL: unknown */
	const char *function_raw; /* as in the file */
	const char *file; /* NULL: unknown */
	uint32_t line; /* 0: unknown */
	bool inlined; /* inlined into the frame that follows */
};

/* What an address resolved to: one frame, or several when calls were inlined, innermost first. */
struct sym_result {
	uint64_t cookie;
	uint32_t nframes; /* at least 1 */
	const struct sym_frame *frames; /* owned by the worker, until the last sym_free */
};

/* Why a module has no (or poorer) names, for the screen: a static string, NULL when it has DWARF.
 */
enum sym_quality { SYM_PENDING, SYM_DWARF, SYM_SYMTAB, SYM_DYNSYM, SYM_NONE };

/* Starts a worker. NULL and errno on failure. */
struct sym *sym_new(const struct sym_options *options);
/*
 * For a further program, with modules and cookies of its own: the worker and the options are those
 * of `with`, and so is all that is known of object files with the same path and build-id. Main
 * thread. NULL and errno on failure.
 */
struct sym *sym_join(struct sym *with);
/*
 * Drops what was asked for and not collected. The last that shares the worker stops it at its next
 * address and frees everything; the others' answers stay good until then. Main thread.
 */
void sym_free(struct sym *s);
/* Main thread. Copies the description. Adding an id twice replaces nothing. 0 or -errno. */
int sym_module_add(struct sym *s, const struct sym_module *m);
/*
 * Main thread. Asks for an address: `vaddr` is the ELF virtual address (return address - load
 * bias); `is_return` looks one byte earlier, in the call. The answer carries `cookie`. 0 or -errno.
 */
int sym_request(struct sym *s, uint32_t module, uint64_t vaddr, bool is_return, uint64_t cookie);
/* Main thread. Takes one finished answer: 1, or 0 when there is none yet. */
int sym_collect(struct sym *s, struct sym_result *out);
/* Waits until all requests are answered (batch, report), or `timeout_ns` passed. 0 or -ETIMEDOUT.
 */
int sym_drain(struct sym *s, uint64_t timeout_ns);
/* Readable (eventfd) whenever answers wait; for poll(). */
int sym_fd(const struct sym *s);
/* Requests not yet collected. */
size_t sym_pending(const struct sym *s);
enum sym_quality sym_module_quality(const struct sym *s, uint32_t module);

/*
 * The rule by which a site is named after the program's own code: true when a frame belongs to an
 * allocator or to a standard library's container or runtime (operator new, std::, __gnu_cxx::,
 * g_malloc, xmalloc, strdup, alloc::alloc::, ...) and should be passed over. `function` may be
 * NULL. Pure; the table is in hide.c and is printed by the help screen (sym_hide_rules).
 */
bool sym_hidden(const char *function, const char *module_path);
/*
 * Rules besides these, of functions only; they replace those given before. They are copied; without
 * memory none hold. Main thread, as sym_hidden.
 */
int sym_hide_more(const char *const *patterns, size_t count);
/* The rules, one per line of text; static. */
const char *const *sym_hide_rules(size_t *count);

#endif
