/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A leak scan's result in the JSON report (json_leaks.h): fields as in json.c. Main thread. */
#include "src/export/json_leaks.h"

#include "src/export/holders.h"
#include "src/export/json_stack.h"
#include "src/model/site_index.h"
#include "src/model/suspects.h"

static void json_leak_sum(struct writer *w, const char *key, const struct snap_leak_sum *s)
{
	writer_object(w, key);
	writer_uint(w, "blocks", s->blocks);
	writer_uint(w, "bytes", s->bytes);
	writer_end(w);
}

static void json_leak_rule(struct writer *w, const char *rule, const struct snap_leak_sum *moved,
	const struct snap_leak_sum *behind)
{
	writer_object(w, rule);
	writer_uint(w, "blocks", moved->blocks);
	writer_uint(w, "bytes", moved->bytes);
	json_leak_sum(w, "behind", behind);
	writer_end(w);
}

static void json_leak_site(
	struct writer *w, const struct snap_leak_site *l, const struct snap_site *site)
{
	writer_object(w, NULL);
	/* "suppressed" keeps suppressed leaks out of a reader's selection by class. */
	writer_string(w, "class", l->suppressed ? "suppressed" : snapshot_leak_word(l->class));
	writer_string(w, "kind", snapshot_leak_word(l->class));
	writer_uint(w, "blocks", l->sum.blocks);
	writer_uint(w, "bytes", l->sum.bytes);
	json_leak_sum(w, "indirect", &l->indirect);
	holders_json_retained(w, l->retained);
	writer_string(w, "type", l->type);
	writer_uint(w, "type_blocks", l->type_blocks);
	writer_bool(w, "suppressed", l->suppressed);
	writer_uint(w, "site", l->site);
	if (site) {
		writer_string(w, "function", site->alloc_function);
		json_stack(w, "stack", site->stack);
	} else {
		writer_null(w, "function");
		writer_array(w, "stack");
		writer_end(w);
	}
	writer_end(w);
}

/* `s`: with all sites. */
static void json_leak_sites(struct writer *w, const struct snap_leaks *l, const struct snapshot *s)
{
	struct site_index by_id;

	site_index_make(&by_id, s);
	writer_array(w, "sites");
	writer_lines(w);
	for (size_t i = 0; i < l->nsites; i++)
		json_leak_site(w, &l->sites[i], site_index_find(&by_id, l->sites[i].site));
	writer_end(w);
	site_index_free(&by_id);
}

static void json_leak_rest(struct writer *w, struct snap_leak_rest rest)
{
	writer_object(w, "unclassed");
	writer_int(w, "blocks", rest.blocks);
	writer_int(w, "bytes", rest.bytes);
	writer_end(w);
}

/* The results of each scan of a series; the enclosing object has more about the last one. */
static void json_leak_history(struct writer *w, const struct snap_leaks *l)
{
	if (l->nrounds == 0)
		return;
	writer_array(w, "history");
	writer_lines(w);
	for (size_t i = 0; i < l->nrounds; i++) {
		writer_object(w, NULL);
		writer_uint(w, "number", l->rounds[i].number);
		writer_uint(w, "ns", l->rounds[i].ns);
		for (unsigned c = 0; c < SNAP_LEAK_REACHABLE; c++)
			json_leak_sum(w, snapshot_leak_word((enum snap_leak_class)c),
				&l->rounds[i].sum[c]);
		writer_uint(w, "stop_ns", l->rounds[i].stop_ns);
		writer_end(w);
	}
	writer_end(w);
}

/* Suspects by age alone, if memory could not be scanned; the sites have the other figures. */
static void json_suspects(struct writer *w, const struct snapshot *s)
{
	uint32_t index[SUSPECTS_MAX];
	size_t n = suspects_find(s, index);

	writer_array(w, "suspects");
	writer_lines(w);
	for (size_t i = 0; i < n; i++) {
		const struct snap_site *site = &s->sites[index[i]];

		writer_object(w, NULL);
		writer_uint(w, "site", site->id);
		writer_string(w, "function", site->alloc_function);
		writer_uint(w, "blocks", site->live_blocks);
		writer_uint(w, "bytes", site->live_bytes);
		writer_bool(w, "grows", site->growth.sure > 0);
		writer_end(w);
	}
	writer_end(w);
}

/* A requested scan that failed has the reason and no figures. */
void json_leaks(struct writer *w, const struct snapshot *s, const struct export_options *o)
{
	const struct snap_leaks *l = s->leaks;

	if (!l)
		return;
	writer_object(w, "leaks");
	writer_string(w, "failed", l->failed);
	for (unsigned i = 0; !l->failed && i < SNAP_LEAK_CLASSES; i++)
		json_leak_sum(w, snapshot_leak_word((enum snap_leak_class)i), &l->sum[i]);
	if (l->failed) {
		if (suspects_wanted(l))
			json_suspects(w, s);
		writer_end(w);
		return;
	}
	json_leak_sum(w, "suppressed", &l->suppressed);
	writer_object(w, "heuristics");
	for (unsigned i = 0; i < SNAP_LEAK_HEURISTICS; i++)
		json_leak_rule(w, l->heuristic_name[i], &l->heuristic[i], &l->behind[i]);
	writer_end(w);
	json_leak_sum(w, "moved", &l->moved);
	json_leak_rest(w, snapshot_leak_rest(s));
	writer_bool(w, "at_exit", l->at_exit);
	writer_uint(w, "stop_ns", l->stop_ns);
	writer_uint(w, "scan_ns", l->scan_ns);
	writer_uint(w, "scanned_bytes", l->scanned_bytes);
	writer_uint(w, "unread_bytes", l->unread_bytes);
	writer_uint(w, "devices", l->devices);
	writer_bool(w, "unknown_blocks", l->unknown);
	writer_uint(w, "threads", l->threads);
	writer_uint(w, "threads_running", l->running);
	writer_uint(w, "threads_busy", l->busy);
	writer_string(w, "how", l->how);
	writer_string(w, "no_copy", l->no_copy); /* why not; null: copied, or not requested */
	writer_bool(w, "copy_left", l->copy_left); /* the copy remains as a zombie */
	writer_string(w, "ptrace", l->refused); /* why not; null: allowed */
	writer_uint(w, "snapshots", l->snapshots ? l->snapshots : 1);
	json_leak_history(w, l);
	holders_json(w, l);
	holders_json_types(w, l);
	json_leak_sites(w, l, o->whole ? o->whole : s);
	writer_end(w);
}
