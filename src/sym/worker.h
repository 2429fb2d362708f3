/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The resolving thread and its request queue. It serves any number of clients (struct sym); only
 * this thread uses libdw. One mutex guards the queue and the data that clients and worker share;
 * the worker holds it only to take a request and to deliver an answer.
 */
#ifndef SRC_SYM_WORKER_H
#define SRC_SYM_WORKER_H

#include "src/sym/sym_types.h"

struct resolve_module;
struct worker;

/* A requested address, then its answer. Owned by the queue it is in. */
struct sym_request {
	struct sym_request *next;
	struct sym_inbox *inbox; /* NULL: the client is gone */
	struct resolve_module *module; /* a reference */
	uint64_t vaddr, cookie;
	const struct sym_frame *frames;
	uint32_t nframes;
};

/* First in, first out. */
struct sym_queue {
	struct sym_request *first, **end;
};

/* The answers for one client. */
struct sym_inbox {
	struct sym_queue answers; /* guarded by the worker's lock, as is the rest */
	size_t unanswered; /* requests queued or in progress */
	int fd; /* eventfd, readable while there are answers */
};

/* NULL and errno on failure. The caller owns the only reference. */
struct worker *worker_new(const struct sym_options *options);
struct worker *worker_ref(struct worker *w);
/* The last reference stops the thread at its next address and frees everything. */
void worker_unref(struct worker *w);
/* 0 or -errno. */
int worker_inbox_init(struct sym_inbox *in);
/* Drops its requests and answers; a request in progress is dropped when it is done. */
void worker_inbox_clear(struct worker *w, struct sym_inbox *in);
/* Requests an address for `in`. 0 or -ENOMEM. */
int worker_request(struct worker *w, struct sym_inbox *in, struct resolve_module *m, uint64_t vaddr,
	uint64_t cookie);
/* Frees a request. */
void worker_request_free(struct sym_request *r);
/* The next answer, which the caller frees, or NULL. */
struct sym_request *worker_answer_take(struct worker *w, struct sym_inbox *in);
/* Waits until all requests of this inbox are answered. 0 or -ETIMEDOUT. */
int worker_drain(struct worker *w, const struct sym_inbox *in, uint64_t timeout_ns);

#endif
