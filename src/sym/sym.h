/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolves addresses to names. A worker thread owns libdw; the viewer's main thread requests and
 * collects, and waits only in sym_drain. Programs that are watched together share a worker and its
 * object files (sym_join): a forked child does not cost reading libc again. Sources of names, in
 * this order: DWARF of the file itself, of its .gnu_debuglink file, of
 * /usr/lib/debug/.build-id/xx/yyyy.debug; then .symtab; then .dynsym. debuginfod is used only with
 * `use_debuginfod`. Names are demangled (libiberty, C++ and Rust) and cleaned of control bytes. All
 * strings live until sym_free of the last that shares the worker.
 */
#ifndef SRC_SYM_SYM_H
#define SRC_SYM_SYM_H

#include "src/sym/hide_rules.h"
#include "src/sym/sym_types.h"

struct sym; /* one program's requests and answers */

/* Starts a worker. NULL and errno on failure. */
struct sym *sym_new(const struct sym_options *options);
/*
 * For another program, with its own modules and cookies. It shares worker, options and object files
 * with `with`. Main thread. NULL and errno on failure.
 */
struct sym *sym_join(struct sym *with);
/*
 * Drops the requests that were not collected. The last one that shares the worker stops it at its
 * next address and frees everything; answers stay valid until then. Main thread.
 */
void sym_free(struct sym *s);
/* Main thread. Copies the description. Adding an id again changes nothing. 0 or -errno. */
int sym_module_add(struct sym *s, const struct sym_module *m);
/*
 * Main thread. Requests an address: `vaddr` is the ELF virtual address (return address - load
 * bias); with `is_return` the byte before it, in the call, is looked up. The answer carries
 * `cookie`. 0 or -errno.
 */
int sym_request(struct sym *s, uint32_t module, uint64_t vaddr, bool is_return, uint64_t cookie);
/* Main thread. Takes one finished answer: 1, or 0 if there is none yet. */
int sym_collect(struct sym *s, struct sym_result *out);
/* Waits until all requests are answered (batch, report), or `timeout_ns` passed. 0 or -ETIMEDOUT.
 */
int sym_drain(struct sym *s, uint64_t timeout_ns);
/* An eventfd, readable while answers wait; for poll(). */
int sym_fd(const struct sym *s);
/* Requests not yet collected. */
size_t sym_pending(const struct sym *s);
enum sym_quality sym_module_quality(const struct sym *s, uint32_t module);

#endif
