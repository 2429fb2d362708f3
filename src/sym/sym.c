/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The queue between the main thread, which asks and collects, and the worker, which resolves. One
 * mutex guards the lists and the table of modules; the worker holds it only to take a request and
 * to hand one back. Everything of libdw is the worker's alone.
 */
#include "src/sym/sym.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "src/sym/demangle.h"
#include "src/sym/resolve.h"

/* Programs have some dozens of modules, rarely hundreds. */
#define MODULE_CHAINS 256u
#define NS_PER_S      1000000000u

struct module {
	struct module *next;
	uint32_t id;
	enum sym_quality quality; /* under the lock */
	struct resolve_module *resolve;
};

struct request {
	struct request *next;
	struct module *module;
	uint64_t vaddr, cookie;
	const struct sym_frame *frames;
	uint32_t nframes;
};

/* First in, first out. */
struct list {
	struct request *first, **end;
};

struct sym {
	pthread_mutex_t lock;
	pthread_cond_t asked; /* the worker waits on it for requests */
	pthread_cond_t idle; /* sym_drain waits on it for the last answer */
	pthread_t worker;
	struct list requests, answers;
	bool busy; /* the worker holds a request */
	size_t pending;
	int fd; /* readable exactly while `answers` is not empty */
	atomic_bool stop;
	struct module *modules[MODULE_CHAINS];
	char *debug_dir, *root;
	struct debugfile_dirs dirs;
	struct resolve *resolve;
};

static void list_append(struct list *l, struct request *r)
{
	r->next = NULL;
	*l->end = r;
	l->end = &r->next;
}

static struct request *list_take(struct list *l)
{
	struct request *r = l->first;

	if (r) {
		l->first = r->next;
		if (!l->first)
			l->end = &l->first;
	}
	return r;
}

static void list_free(struct list *l)
{
	struct request *r;

	while ((r = list_take(l)))
		free(r);
}

/* ---- the worker ----------------------------------------------------------------------------- */

static struct request *request_wait(struct sym *s)
{
	struct request *r = NULL;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && !s->requests.first)
		pthread_cond_wait(&s->asked, &s->lock);
	if (!s->stop)
		r = list_take(&s->requests);
	s->busy = r != NULL;
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void answer_put(struct sym *s, struct request *r)
{
	pthread_mutex_lock(&s->lock);
	r->module->quality = resolve_quality(r->module->resolve);
	if (!s->answers.first)
		eventfd_write(s->fd, 1);
	list_append(&s->answers, r);
	s->busy = false;
	if (!s->requests.first)
		pthread_cond_broadcast(&s->idle);
	pthread_mutex_unlock(&s->lock);
}

static void *worker_run(void *arg)
{
	struct sym *s = arg;
	struct request *r;

	while ((r = request_wait(s))) {
		r->frames = resolve_address(s->resolve, r->module->resolve, r->vaddr, &r->nframes);
		answer_put(s, r);
	}
	return NULL;
}

/* Signals are the main thread's business: the worker starts with all of them blocked. */
static int worker_start(struct sym *s)
{
	pthread_attr_t attr;
	sigset_t all, before;
	int rc = pthread_attr_init(&attr);

	if (rc != 0)
		return rc;
	pthread_attr_setstacksize(&attr, DEMANGLE_STACK_BYTES + 1024 * 1024);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&s->worker, &attr, worker_run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		pthread_setname_np(s->worker, "heaptop-names");
	return rc;
}

/* ---- making and freeing --------------------------------------------------------------------- */

static int locks_init(struct sym *s)
{
	pthread_condattr_t attr;

	if (pthread_condattr_init(&attr) != 0)
		return ENOMEM;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->asked, NULL);
	pthread_cond_init(&s->idle, &attr);
	pthread_condattr_destroy(&attr);
	return 0;
}

static int options_take(struct sym *s, const struct sym_options *o)
{
	s->debug_dir = strdup(o && o->debug_dir ? o->debug_dir : "/usr/lib/debug");
	s->root = strdup(o && o->root ? o->root : "");
	s->dirs = (struct debugfile_dirs){
		.root = s->root,
		.debug_dir = s->debug_dir,
		.use_debuginfod = o && o->use_debuginfod,
		.stop = &s->stop,
	};
	s->resolve = resolve_new(&s->dirs);
	return s->debug_dir && s->root && s->resolve ? 0 : ENOMEM;
}

static void all_free(struct sym *s)
{
	list_free(&s->requests);
	list_free(&s->answers);
	for (size_t i = 0; i < MODULE_CHAINS; i++) {
		while (s->modules[i]) {
			struct module *m = s->modules[i];

			s->modules[i] = m->next;
			resolve_module_free(m->resolve);
			free(m);
		}
	}
	resolve_free(s->resolve);
	if (s->fd >= 0)
		close(s->fd);
	free(s->debug_dir);
	free(s->root);
	free(s);
}

struct sym *sym_new(const struct sym_options *options)
{
	struct sym *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return NULL;
	s->requests.end = &s->requests.first;
	s->answers.end = &s->answers.first;
	s->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = s->fd < 0 ? errno : options_take(s, options);
	if (rc == 0)
		rc = locks_init(s);
	if (rc == 0)
		rc = worker_start(s);
	if (rc == 0)
		return s;
	all_free(s);
	errno = rc;
	return NULL;
}

void sym_free(struct sym *s)
{
	if (!s)
		return;
	s->stop = true;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->asked);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->worker, NULL);
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->asked);
	pthread_mutex_destroy(&s->lock);
	all_free(s);
}

/* ---- the main thread's side ----------------------------------------------------------------- */

/* Only the main thread adds modules and looks for them, so the chains need no lock. */
static struct module *module_find(struct sym *s, uint32_t id)
{
	struct module *m = s->modules[id % MODULE_CHAINS];

	while (m && m->id != id)
		m = m->next;
	return m;
}

int sym_module_add(struct sym *s, const struct sym_module *info)
{
	struct module *m;

	if (module_find(s, info->id))
		return 0;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->id = info->id;
	m->quality = SYM_PENDING;
	m->resolve = resolve_module_new(info);
	if (!m->resolve) {
		free(m);
		return -ENOMEM;
	}
	m->next = s->modules[m->id % MODULE_CHAINS];
	s->modules[m->id % MODULE_CHAINS] = m;
	return 0;
}

int sym_request(struct sym *s, uint32_t module, uint64_t vaddr, bool is_return, uint64_t cookie)
{
	struct module *m = module_find(s, module);
	struct request *r = m ? malloc(sizeof(*r)) : NULL;

	if (!r)
		return m ? -ENOMEM : -ENOENT;
	*r = (struct request){ .module = m, .cookie = cookie };
	r->vaddr = is_return && vaddr > 0 ? vaddr - 1 : vaddr;
	pthread_mutex_lock(&s->lock);
	list_append(&s->requests, r);
	s->pending++;
	pthread_cond_signal(&s->asked);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

int sym_collect(struct sym *s, struct sym_result *out)
{
	struct request *r;
	eventfd_t count;

	pthread_mutex_lock(&s->lock);
	r = list_take(&s->answers);
	if (r) {
		s->pending--;
		if (!s->answers.first)
			eventfd_read(s->fd, &count);
	}
	pthread_mutex_unlock(&s->lock);
	if (!r)
		return 0;
	*out = (struct sym_result){
		.cookie = r->cookie,
		.nframes = r->nframes,
		.frames = r->frames,
	};
	free(r);
	return 1;
}

static struct timespec deadline_in(uint64_t ns)
{
	struct timespec t;
	/* More than a century is for ever, and fits the addition. */
	const uint64_t most = (uint64_t)100 * 365 * 86400 * NS_PER_S;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns = (ns < most ? ns : most) + (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / NS_PER_S);
	t.tv_nsec = (long)(ns % NS_PER_S);
	return t;
}

int sym_drain(struct sym *s, uint64_t timeout_ns)
{
	struct timespec deadline = deadline_in(timeout_ns);
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while ((s->requests.first || s->busy) && rc == 0)
		rc = pthread_cond_timedwait(&s->idle, &s->lock, &deadline);
	if (!s->requests.first && !s->busy)
		rc = 0;
	pthread_mutex_unlock(&s->lock);
	return -rc;
}

int sym_fd(const struct sym *s)
{
	return s->fd;
}

size_t sym_pending(const struct sym *s)
{
	return s->pending;
}

enum sym_quality sym_module_quality(struct sym *s, uint32_t module)
{
	struct module *m = module_find(s, module);
	enum sym_quality q = SYM_NONE;

	if (!m)
		return q;
	pthread_mutex_lock(&s->lock);
	q = m->quality;
	pthread_mutex_unlock(&s->lock);
	return q;
}
