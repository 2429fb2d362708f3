/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The symboliser's thread and its queue (worker.h). */
#include "src/sym/worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "src/sym/demangle.h"
#include "src/sym/resolve.h"
#include "src/util/shortage.h"
#include "src/util/thread.h"

#define NS_PER_S 1000000000u
/* Stack for libdw and the libraries below it, besides that for demangling. */
#define LIBRARIES_STACK_BYTES ((size_t)512 * 1024)
#define DEMANGLE_STACK_LEAST  ((size_t)512 * 1024) /* names of 128 bytes */
#define SPARE_BYTES	      ((size_t)16 * 1024 * 1024) /* memory left for everything else */

struct worker {
	pthread_mutex_t lock;
	pthread_cond_t requested; /* the thread waits here for requests */
	pthread_cond_t idle; /* worker_drain waits here for an inbox's last answer */
	pthread_t thread;
	struct sym_queue requests;
	struct sym_request *busy; /* the thread's current request */
	atomic_bool stop;
	unsigned refs; /* main thread */
	char *debug_dir, *root;
	char *place[3]; /* of `elsewhere` */
	struct sym_elsewhere elsewhere;
	struct debugfile_dirs dirs;
	struct resolve *resolve;
};

static void queue_append(struct sym_queue *q, struct sym_request *r)
{
	r->next = NULL;
	*q->end = r;
	q->end = &r->next;
}

static struct sym_request *queue_take(struct sym_queue *q)
{
	struct sym_request *r = q->first;

	if (r) {
		q->first = r->next;
		if (!q->first)
			q->end = &q->first;
	}
	return r;
}

void worker_request_free(struct sym_request *r)
{
	resolve_module_unref(r->module);
	free(r);
}

/* Frees the requests of `in`, or all if it is NULL. */
static void queue_drop(struct sym_queue *q, const struct sym_inbox *in)
{
	struct sym_queue all = *q;
	struct sym_request *r;

	if (!all.first)
		return;
	q->first = NULL;
	q->end = &q->first;
	while ((r = all.first)) {
		all.first = r->next;
		if (!in || r->inbox == in)
			worker_request_free(r);
		else
			queue_append(q, r);
	}
}

/* ---- the thread ----------------------------------------------------------------------------- */

static struct sym_request *request_wait(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	while (!w->stop && !w->requests.first)
		pthread_cond_wait(&w->requested, &w->lock);
	w->busy = w->stop ? NULL : queue_take(&w->requests);
	pthread_mutex_unlock(&w->lock);
	return w->busy;
}

static void answer_put(struct worker *w, struct sym_request *r)
{
	struct sym_inbox *in;

	pthread_mutex_lock(&w->lock);
	w->busy = NULL;
	in = r->inbox;
	if (in) {
		if (!in->answers.first)
			eventfd_write(in->fd, 1);
		queue_append(&in->answers, r);
		if (--in->unanswered == 0)
			pthread_cond_broadcast(&w->idle);
	}
	pthread_mutex_unlock(&w->lock);
	if (!in)
		worker_request_free(r);
}

static void *worker_run(void *arg)
{
	struct worker *w = arg;
	struct sym_request *r;

	while ((r = request_wait(w))) {
		r->frames = resolve_address(w->resolve, r->module, r->vaddr, &r->nframes);
		answer_put(w, r);
	}
	return NULL;
}

/* Under a memory limit the stack is smaller, and the longest names stay mangled. */
static int worker_start(struct worker *w)
{
	size_t bytes = DEMANGLE_STACK_BYTES;
	int rc;

	while (bytes > DEMANGLE_STACK_LEAST && !shortage_has_memory(bytes + SPARE_BYTES))
		bytes /= 4;
	resolve_stack(w->resolve, bytes);
	rc = thread_start(&w->thread, bytes + LIBRARIES_STACK_BYTES, worker_run, w);
	if (rc == 0)
		pthread_setname_np(w->thread, "heaptop-names");
	return -rc;
}

/* ---- creation and destruction -------------------------------------------------------------------
 */

static int locks_init(struct worker *w)
{
	pthread_condattr_t attr;

	if (pthread_condattr_init(&attr) != 0)
		return ENOMEM;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->requested, NULL);
	pthread_cond_init(&w->idle, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

/* False: no memory. */
static bool place_take(const char **to, char **own, const char *from)
{
	*own = from ? strdup(from) : NULL;
	*to = *own;
	return !from || *own;
}

static bool elsewhere_take(struct worker *w, const struct sym_elsewhere *e)
{
	if (!e)
		return true;
	w->dirs.elsewhere = &w->elsewhere;
	return place_take(&w->elsewhere.sysroot, &w->place[0], e->sysroot) &&
	       place_take(&w->elsewhere.binpath, &w->place[1], e->binpath) &&
	       place_take(&w->elsewhere.objects, &w->place[2], e->objects);
}

static int options_take(struct worker *w, const struct sym_options *o)
{
	w->debug_dir = strdup(o && o->debug_dir ? o->debug_dir : "/usr/lib/debug");
	w->root = strdup(o && o->root ? o->root : "");
	w->dirs = (struct debugfile_dirs){
		.root = w->root,
		.debug_dir = w->debug_dir,
		.use_debuginfod = o && o->use_debuginfod,
		.stop = &w->stop,
	};
	if (!elsewhere_take(w, o ? o->elsewhere : NULL))
		return ENOMEM;
	w->resolve = resolve_new(&w->dirs);
	return w->debug_dir && w->root && w->resolve ? 0 : ENOMEM;
}

static void all_free(struct worker *w)
{
	queue_drop(&w->requests, NULL);
	resolve_free(w->resolve);
	free(w->debug_dir);
	free(w->root);
	for (int i = 0; i < 3; i++)
		free(w->place[i]);
	free(w);
}

struct worker *worker_new(const struct sym_options *options)
{
	struct worker *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return NULL;
	w->refs = 1;
	w->requests.end = &w->requests.first;
	rc = options_take(w, options);
	if (rc == 0)
		rc = locks_init(w);
	if (rc == 0)
		rc = worker_start(w);
	if (rc == 0)
		return w;
	all_free(w);
	errno = rc;
	return NULL;
}

struct worker *worker_ref(struct worker *w)
{
	w->refs++;
	return w;
}

void worker_unref(struct worker *w)
{
	if (--w->refs > 0)
		return;
	w->stop = true;
	pthread_mutex_lock(&w->lock);
	pthread_cond_signal(&w->requested);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->idle);
	pthread_cond_destroy(&w->requested);
	pthread_mutex_destroy(&w->lock);
	all_free(w);
}

int worker_inbox_init(struct sym_inbox *in)
{
	*in = (struct sym_inbox){ .answers.end = &in->answers.first };
	in->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return in->fd < 0 ? -errno : 0;
}

void worker_inbox_clear(struct worker *w, struct sym_inbox *in)
{
	pthread_mutex_lock(&w->lock);
	queue_drop(&w->requests, in);
	if (w->busy && w->busy->inbox == in)
		w->busy->inbox = NULL;
	pthread_mutex_unlock(&w->lock);
	queue_drop(&in->answers, NULL);
	close(in->fd);
}

/* ---- requests ------------------------------------------------------------------------------- */

int worker_request(struct worker *w, struct sym_inbox *in, struct resolve_module *m, uint64_t vaddr,
	uint64_t cookie)
{
	struct sym_request *r = malloc(sizeof(*r));

	if (!r)
		return -ENOMEM;
	*r = (struct sym_request){
		.inbox = in, .module = resolve_module_ref(m), .vaddr = vaddr, .cookie = cookie
	};
	pthread_mutex_lock(&w->lock);
	queue_append(&w->requests, r);
	in->unanswered++;
	pthread_cond_signal(&w->requested);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

struct sym_request *worker_answer_take(struct worker *w, struct sym_inbox *in)
{
	struct sym_request *r;
	eventfd_t count;

	pthread_mutex_lock(&w->lock);
	r = queue_take(&in->answers);
	if (r && !in->answers.first)
		eventfd_read(in->fd, &count);
	pthread_mutex_unlock(&w->lock);
	return r;
}

static struct timespec deadline_in(uint64_t ns)
{
	struct timespec t;
	/* A century is long enough, and the addition does not overflow. */
	const uint64_t most = (uint64_t)100 * 365 * 86400 * NS_PER_S;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = (ns < most ? ns : most) + (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / NS_PER_S);
	t.tv_nsec = (long)(ns % NS_PER_S);
	return t;
}

int worker_drain(struct worker *w, const struct sym_inbox *in, uint64_t timeout_ns)
{
	struct timespec deadline = deadline_in(timeout_ns);
	int rc = 0;

	pthread_mutex_lock(&w->lock);
	while (in->unanswered > 0 && rc == 0)
		rc = pthread_cond_timedwait(&w->idle, &w->lock, &deadline);
	if (in->unanswered == 0)
		rc = 0;
	pthread_mutex_unlock(&w->lock);
	return -rc;
}
