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

#include "src/sym/hide_rules.h"
#include "src/sym/sym_types.h"

struct sym; /* one program's questions and answers */

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

#endif
