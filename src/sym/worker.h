/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The thread that resolves, and the queue in front of it. It serves any number of askers (struct
 * sym); everything of libdw is its alone. One mutex guards the queue and what askers and worker
 * both touch; the worker holds it only to take a request and to hand an answer back.
 */
#ifndef SRC_SYM_WORKER_H
#define SRC_SYM_WORKER_H

#include "src/sym/sym_types.h"

struct resolve_module;
struct worker;

/* An address that is asked for, then its answer. Belongs to the queue it is in. */
struct sym_request {
	struct sym_request *next;
	struct sym_inbox *inbox; /* NULL: whoever asked is gone */
	struct resolve_module *module; /* a reference */
	uint64_t vaddr, cookie;
	const struct sym_frame *frames;
	uint32_t nframes;
};

/* First in, first out. */
struct sym_queue {
	struct sym_request *first, **end;
};

/* Where one asker's answers go. */
struct sym_inbox {
	struct sym_queue answers; /* under the worker's lock, as is all here */
	size_t unanswered; /* requests in the worker's queue or hands */
	int fd; /* eventfd, readable exactly while there are answers */
};

/* NULL and errno on failure. The caller has the one reference. */
struct worker *worker_new(const struct sym_options *options);
struct worker *worker_ref(struct worker *w);
/* The last stops the thread at its next address and frees all that it made. */
void worker_unref(struct worker *w);
/* 0 or -errno. */
int worker_inbox_init(struct sym_inbox *in);
/* Drops its requests and answers; one that is being worked on is dropped when it is done. */
void worker_inbox_clear(struct worker *w, struct sym_inbox *in);
/* Asks for an address on behalf of `in`. 0 or -ENOMEM. */
int worker_request(struct worker *w, struct sym_inbox *in, struct resolve_module *m, uint64_t vaddr,
	uint64_t cookie);
/* Frees a request. */
void worker_request_free(struct sym_request *r);
/* The next answer, the caller's to free, or NULL. */
struct sym_request *worker_answer_take(struct worker *w, struct sym_inbox *in);
/* Waits until nothing of this inbox is unanswered. 0 or -ETIMEDOUT. */
int worker_drain(struct worker *w, const struct sym_inbox *in, uint64_t timeout_ns);

#endif
