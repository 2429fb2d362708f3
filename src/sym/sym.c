/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One program's modules and requests (sym.h); the worker resolves them. Main thread. */
#include "src/sym/sym.h"

#include <errno.h>
#include <stdlib.h>
#include "src/sym/resolve.h"
#include "src/sym/worker.h"

/* Programs have some dozens of modules, rarely hundreds. */
#define MODULE_CHAINS 256u

struct module {
	struct module *next;
	uint32_t id;
	struct resolve_module *resolve;
};

struct sym {
	struct worker *worker;
	struct sym_inbox inbox;
	size_t pending;
	struct module *modules[MODULE_CHAINS];
};

/* Takes ownership of the reference. */
static struct sym *sym_with(struct worker *w)
{
	struct sym *s = w ? calloc(1, sizeof(*s)) : NULL;
	int rc = s ? worker_inbox_init(&s->inbox) : w ? -ENOMEM : -errno;

	if (rc == 0) {
		s->worker = w;
		return s;
	}
	if (w)
		worker_unref(w);
	free(s);
	errno = -rc;
	return NULL;
}

struct sym *sym_new(const struct sym_options *options)
{
	return sym_with(worker_new(options));
}

struct sym *sym_join(struct sym *with)
{
	return sym_with(worker_ref(with->worker));
}

void sym_free(struct sym *s)
{
	if (!s)
		return;
	worker_inbox_clear(s->worker, &s->inbox);
	worker_unref(s->worker);
	for (size_t i = 0; i < MODULE_CHAINS; i++) {
		while (s->modules[i]) {
			struct module *m = s->modules[i];

			s->modules[i] = m->next;
			resolve_module_unref(m->resolve);
			free(m);
		}
	}
	free(s);
}

static struct module *module_find(const struct sym *s, uint32_t id)
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
	const struct module *m = module_find(s, module);
	int rc = -ENOENT;

	vaddr -= is_return && vaddr > 0;
	if (m)
		rc = worker_request(s->worker, &s->inbox, m->resolve, vaddr, cookie);
	if (rc == 0)
		s->pending++;
	return rc;
}

int sym_collect(struct sym *s, struct sym_result *out)
{
	struct sym_request *r = worker_answer_take(s->worker, &s->inbox);

	if (!r)
		return 0;
	s->pending--;
	*out = (struct sym_result){
		.cookie = r->cookie,
		.nframes = r->nframes,
		.frames = r->frames,
	};
	worker_request_free(r);
	return 1;
}

int sym_drain(struct sym *s, uint64_t timeout_ns)
{
	return worker_drain(s->worker, &s->inbox, timeout_ns);
}

int sym_fd(const struct sym *s)
{
	return s->inbox.fd;
}

size_t sym_pending(const struct sym *s)
{
	return s->pending;
}

enum sym_quality sym_module_quality(const struct sym *s, uint32_t module)
{
	const struct module *m = module_find(s, module);

	return m ? resolve_quality(m->resolve) : SYM_NONE;
}
