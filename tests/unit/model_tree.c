/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The call tree of a few stacks: sums, names that come in late, and what becomes a line. */
#include <stdlib.h>
#include "src/model/tree_rows.h"
#include "src/model/value.h"
#include "tests/check.h"

static const struct snap_module app = { .path = "/srv/app", .name = "app", .build_id = "" };

#define FRAME(name)                                                                                \
	{                                                                                          \
		.module = &app, .function = (name), .file = "/src/a.c", .line = 1                  \
	}
#define STACK(frames_)                                                                             \
	{                                                                                          \
		.frames = (frames_), .nframes = sizeof(frames_) / sizeof((frames_)[0]),            \
		.resolved = true                                                                   \
	}

/* Innermost first. main calls load (which allocates, and calls parse) and serve. */
static struct frame in_load[] = { { .module = &app, .function = "xmalloc", .hidden = true },
	FRAME("load"), FRAME("main") };
static struct frame in_parse[] = { FRAME("parse"), FRAME("load"), FRAME("main") };
static struct frame in_serve[] = { FRAME("reply"), FRAME("handle"), FRAME("serve"), FRAME("main") };
static struct frame in_tiny[] = { FRAME("tiny"), FRAME("handle"), FRAME("serve"), FRAME("main") };
static struct frame in_cut[] = { FRAME("parse"), FRAME("load") };
static struct stack stacks[] = { STACK(in_load), STACK(in_parse), STACK(in_serve), STACK(in_tiny),
	STACK(in_cut) };
#define SITES (sizeof(stacks) / sizeof(stacks[0]))

static struct snap_site sites[SITES];
static struct snapshot snap = { .sites = sites, .nsites = SITES };
static struct tree tree;
static struct tree_rows rows;
static struct tree_rows_request request;

static void begin(void)
{
	static const uint64_t bytes[SITES] = { 300, 200, 490, 2, 8 };

	for (uint32_t i = 0; i < SITES; i++) {
		stacks[i].truncated = i == 4;
		stacks[i].resolved = true;
		sites[i] = (struct snap_site){ .id = i * 3,
			.stack = &stacks[i],
			.live_bytes = bytes[i],
			.live_blocks = 1,
			.rate_bytes_per_s = i };
	}
	snap.nsites = SITES;
	in_serve[0].function = "reply";
	request = (struct tree_rows_request){ .least_permille = 10 };
}

static void end(void)
{
	tree_free(&tree);
	tree = (struct tree){ 0 };
	tree_rows_free(&rows);
}

static void make(void)
{
	CHECK_INT(tree_update(&tree, &snap, tree.inverted, false), 0);
	CHECK_INT(tree_rows_make(&rows, &tree, &request), 0);
}

static const struct tree_node *named(const char *parent, const char *name)
{
	static const struct tree_node none;

	for (uint32_t i = 1; i < tree.count; i++) {
		const struct tree_node *n = &tree.node[i], *p = &tree.node[n->parent];

		if (!n->frame.function || strcmp(n->frame.function, name) != 0)
			continue;
		if (n->parent == TREE_ROOT
				? !parent
				: parent && p->frame.function && !strcmp(p->frame.function, parent))
			return n;
	}
	return &none;
}

/* The lines as text: level, name of the last of a chain, + closed, *N small. */
static const char *lines(void)
{
	static char text[512];
	size_t used = 0;

	for (size_t i = 0; i < rows.count; i++) {
		const struct tree_row *r = &rows.row[i];
		const struct tree_node *n = &tree.node[r->node];
		const char *name = r->node ? n->frame.function : "all";

		if (r->small)
			used += (size_t)sprintf(text + used, "%u*%u ", r->level, r->small);
		else
			used += (size_t)sprintf(text + used, "%u%.6s%s%s ", r->level, name,
				r->folded ? "~" : "",
				r->has_children && !(n->marks & TREE_ROWS_OPEN) ? "+" : "");
	}
	text[used] = 0;
	return text;
}

TEST(sums_go_up)
{
	begin();
	make();
	CHECK_INT(tree.node[TREE_ROOT].total_bytes, 1000);
	CHECK_INT(tree.node[TREE_ROOT].sites, 5);
	CHECK_INT(named(NULL, "main")->total_bytes, 992);
	CHECK_INT(named(NULL, "main")->self_bytes, 0);
	CHECK_INT(named("main", "load")->total_bytes, 500);
	CHECK_INT(named("main", "load")->self_bytes, 300); /* xmalloc is hidden: load's own */
	CHECK_INT(named("load", "xmalloc")->sites, 0);
	CHECK_INT(named("serve", "handle")->total_bytes, 492);
	CHECK_INT(named("serve", "handle")->rate_bytes_per_s, 5);
	/* Cut off stacks do not pass for whole ones. */
	CHECK_INT(named(NULL, "(outer frames are missing)")->total_bytes, 8);
	CHECK_INT(named("(outer frames are missing)", "load")->total_bytes, 8);
	/* Again, with other numbers: nothing is added to what was. */
	sites[2].live_bytes = 0;
	make();
	CHECK_INT(tree.node[TREE_ROOT].total_bytes, 510);
	CHECK_INT(named("handle", "reply")->total_bytes, 0);
	end();
}

/* What is deeper than a frame is not mistaken for what that frame allocates itself. */
TEST(ancestors)
{
	begin();
	stacks[1].ancestor = stacks[4].ancestor = true;
	make();
	CHECK_INT(named("parse", "(deeper calls not kept)")->self_bytes, 208 - 8);
	CHECK_INT(named("load", "parse")->self_bytes, 0);
	CHECK_INT(named(NULL, "(outer frames are missing)")->total_bytes, 8);
	tree_free(&tree);
	CHECK_INT(tree_update(&tree, &snap, true, false), 0);
	CHECK_INT(named(NULL, "(deeper calls not kept)")->total_bytes, 208);
	CHECK_INT(named("(deeper calls not kept)", "parse")->total_bytes, 208);
	CHECK_INT(named("load", "(outer frames are missing)")->total_bytes, 8);
	stacks[1].ancestor = stacks[4].ancestor = false;
	end();
}

TEST(inverted_it_shows_callers)
{
	begin();
	CHECK_INT(tree_update(&tree, &snap, true, false), 0);
	CHECK_INT(named(NULL, "parse")->total_bytes, 208);
	CHECK_INT(named("parse", "load")->total_bytes, 208);
	CHECK_INT(named(NULL, "load")->total_bytes, 300);
	CHECK_INT(named("load", "(outer frames are missing)")->total_bytes, 8);
	CHECK_INT(tree_update(&tree, &snap, true, true), 0);
	CHECK_INT(named(NULL, "xmalloc")->total_bytes, 300);
	end();
}

/* Names come in between two snapshots, inlined calls with them: stacks move, the tree follows. */
TEST(late_names_move_nodes)
{
	static struct frame longer[] = { FRAME("memdup"), FRAME("reply"), FRAME("handle"),
		FRAME("serve"), FRAME("main") };
	static const struct stack with_inline = STACK(longer);
	uint64_t main_id;

	begin();
	stacks[2].resolved = false;
	in_serve[0].function = NULL;
	in_serve[0].offset = 0x40;
	make();
	main_id = named(NULL, "main")->id;
	tree.node[tree_find(&tree, main_id)].marks |= 32;
	for (uint32_t i = 1; i < tree.count; i++)
		CHECK(tree.node[i].frame.function == NULL ||
			strcmp(tree.node[i].frame.function, "reply"));
	stacks[2] = with_inline;
	make();
	CHECK_INT(named("reply", "memdup")->total_bytes, 490);
	CHECK_INT(named("handle", "reply")->self_bytes, 0);
	CHECK_INT(named(NULL, "main")->id, main_id);
	CHECK(named(NULL, "main")->marks & 32); /* what was marked stays so */
	stacks[2] = (struct stack)STACK(in_serve);
	end();
}

/* The row of ignored sites has the id of one that is shown by itself later. */
TEST(a_site_gets_another_stack)
{
	static struct frame row[] = { FRAME("(ignored)") };
	static const struct stack of_row = STACK(row);

	begin();
	sites[1].stack = &of_row;
	make();
	CHECK_INT(named(NULL, "(ignored)")->self_bytes, 200);
	sites[1].stack = &stacks[1];
	make();
	CHECK_INT(named("load", "parse")->self_bytes, 200);
	for (uint32_t i = 1; i < tree.count; i++)
		CHECK(strcmp(tree.node[i].frame.function, "(ignored)") != 0);
	end();
}

/* Function of the same name at other lines is one node, without a place. */
TEST(places_differ_or_not)
{
	static struct frame other[] = {
		{ .module = &app, .function = "load", .file = "/src/a.c", .line = 2 },
		FRAME("main")
	};
	static const struct stack second = STACK(other);

	begin();
	make();
	CHECK(!named("main", "load")->place_differs);
	sites[3].stack = &second;
	end();
	make();
	CHECK(named("main", "load")->place_differs);
	CHECK(!named(NULL, "main")->place_differs);
	end();
}

TEST(chains_and_small_children_fold)
{
	begin();
	make();
	/* tiny is the only small child of handle, so it has its own line. */
	CHECK_STR(lines(), "0all 1main 2load 3parse 2handle~ 3reply 3tiny 1parse~ ");
	CHECK_INT(rows.row[4].folded, 1);
	sites[0].stack = &stacks[2];
	sites[0].live_bytes = 3;
	sites[1].live_bytes = 4;
	end();
	make();
	CHECK_STR(lines(), "0all 1main 2handle~ 3reply 3tiny 2parse~ 1parse~ ");
	end();
}

TEST(many_small_children_share_a_line)
{
	static struct frame f[8][2];
	static struct stack st[8];
	static struct snap_site s[8];
	static const struct frame tail = FRAME("main");
	static char name[8][4];

	begin();
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name[i], sizeof(name[i]), "f%u", i);
		f[i][0] = (struct frame)FRAME(name[i]);
		f[i][1] = tail;
		st[i] = (struct stack)STACK(f[i]);
		s[i] = (struct snap_site){ .id = i, .stack = &st[i], .live_blocks = 1 };
		s[i].live_bytes = i < 2 ? 5000 : i;
	}
	snap.sites = s;
	snap.nsites = 8;
	make();
	CHECK_STR(lines(), "0all 1main 2f1 2f0 2*6 ");
	CHECK_INT(rows.row[4].small_bytes, 2 + 3 + 4 + 5 + 6 + 7);
	CHECK_INT(rows.row[4].small_blocks, 6);
	/* One that was large enough once keeps its line; what holds nothing has none. */
	s[7].live_bytes = 500;
	make();
	s[7].live_bytes = 1;
	s[0].live_bytes = s[0].live_blocks = 0;
	make();
	CHECK_STR(lines(), "0all 1main 2f1 2f7 2*5 ");
	tree_rows_forget_shown(&tree);
	make();
	CHECK_STR(lines(), "0all 1main 2f1 2*6 ");
	tree.node[named(NULL, "main") - tree.node].marks |= TREE_ROWS_ALL;
	make();
	CHECK_STR(lines(), "0all 1main 2f1 2f6 2f5 2f4 2f3 2f2 2f7 ");
	snap.sites = sites;
	end();
}

TEST(order_and_holding_it)
{
	begin();
	make();
	CHECK_STR(lines(), "0all 1main 2load 3parse 2handle~ 3reply 3tiny 1parse~ ");
	sites[2].live_bytes = 700;
	request.hold = true;
	make();
	CHECK_STR(lines(), "0all 1main 2load 3parse 2handle~ 3reply 3tiny 1parse~ ");
	request.hold = false;
	make();
	CHECK_STR(lines(), "0all 1main 2handle~ 3reply 3tiny 2load 3parse 1parse~ ");
	request.reverse = true;
	make();
	CHECK_STR(lines(), "0all 1parse~ 1main 2load 3parse 2handle~ 3tiny 3reply ");
	request.reverse = false;
	request.sort = TREE_ROWS_NAME;
	make();
	CHECK_STR(lines(), "0all 1parse~ 1main 2load 3parse 2handle~ 3reply 3tiny ");
	end();
}

/* A chain that is split leaves open what was seen, and stays split. */
TEST(a_split_chain_stays_split)
{
	begin();
	snap.nsites = 3;
	make();
	CHECK_STR(lines(), "0all 1main 2load 3parse 2reply~ ");
	snap.nsites = 4;
	make();
	CHECK_STR(lines(), "0all 1main 2load 3parse 2handle~ 3reply 3tiny ");
	snap.nsites = 3;
	make();
	CHECK_STR(lines(), "0all 1main 2load 3parse 2handle~ 3reply ");
	end();
}

TEST(a_node_that_is_not_shown_is_found_above)
{
	uint32_t load, parse;

	begin();
	make();
	load = (uint32_t)(named("main", "load") - tree.node);
	parse = (uint32_t)(named("load", "parse") - tree.node);
	if (tree.node[tree.node[load].parent].missing)
		return;
	CHECK_INT(tree_rows_find(&rows, &tree, parse) > 0, 1);
	tree_rows_open_all(&tree, load, false);
	make();
	CHECK_STR(lines(), "0all 1main 2load+ 2handle~ 3reply 3tiny 1parse~ ");
	CHECK_INT(tree_rows_find(&rows, &tree, load), 2);
	tree_rows_open_all(&tree, TREE_ROOT, true);
	request.root = load;
	make();
	CHECK_STR(lines(), "0load 1parse ");
	end();
}

/* Random stacks: the tree's sums are those of the sites, whatever the shape. */
TEST(sums_hold_for_any_stacks)
{
	enum { N = 3000, DEPTH = 12 };
	static struct frame f[N][DEPTH];
	static struct stack st[N];
	static struct snap_site s[N];
	static const char *const names[] = { "a", "b", "c", "d", NULL };
	uint64_t seed = 7, all = 0, selfs = 0;

	begin();
	for (uint32_t i = 0; i < N; i++) {
		st[i] = (struct stack){ .frames = f[i], .resolved = true };
		st[i].nframes = 1 + (uint32_t)((seed >> 33) % DEPTH);
		for (uint32_t k = 0; k < st[i].nframes; k++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			f[i][k] = (struct frame){ .module = &app,
				.function = names[(seed >> 40) % 5],
				.offset = (seed >> 50) % 3,
				.hidden = (seed >> 57) % 7 == 0 };
		}
		s[i] = (struct snap_site){ .id = i, .stack = &st[i], .live_blocks = 1 };
		s[i].live_bytes = seed >> 52;
		all += s[i].live_bytes;
	}
	snap.sites = s;
	snap.nsites = N;
	for (int inverted = 0; inverted < 2; inverted++) {
		CHECK_INT(tree_update(&tree, &snap, inverted, false), 0);
		CHECK_INT(tree.node[TREE_ROOT].total_bytes, all);
		selfs = 0;
		for (uint32_t i = 0; i < tree.count; i++) {
			uint64_t below = tree.node[i].self_bytes;

			for (uint32_t c = tree.node[i].child; c; c = tree.node[c].next) {
				CHECK_INT(tree.node[c].parent, i);
				below += tree.node[c].total_bytes;
			}
			CHECK_INT(below, tree.node[i].total_bytes);
			CHECK_INT(tree_find(&tree, tree.node[i].id), i);
			selfs += tree.node[i].self_bytes;
		}
		CHECK_INT(selfs, all);
	}
	snap.sites = sites;
	end();
}

/* What changed decides what is a line, even where nothing is live any more. */
TEST(changes_have_lines)
{
	const struct tree_node *n;
	struct snap_mark mark = { 0 };

	begin();
	sites[2].live_bytes = sites[2].live_blocks = 0; /* reply */
	sites[2].since = (struct snap_since){ .bytes = -490, .blocks = -7, .alloc_bytes = 1000 };
	sites[3].since = (struct snap_since){ .bytes = 2, .blocks = 1, .alloc_bytes = 5000 };
	sites[0].since = (struct snap_since){ .bytes = 10, .alloc_bytes = 10 };
	CHECK_INT(tree_update(&tree, &snap, false, false), 0);
	CHECK_INT(tree.node[TREE_ROOT].moved, 0); /* no mark: the sites' `since` is not valid */
	snap.since = &mark;
	CHECK_INT(tree_update(&tree, &snap, false, false), 0);
	CHECK_INT(tree.node[TREE_ROOT].since_bytes, -478);
	CHECK_INT(tree.node[TREE_ROOT].since_blocks, -6);
	CHECK_INT(tree.node[TREE_ROOT].since_alloc, 6010);
	CHECK_INT(tree.node[TREE_ROOT].since_freed, 1490 + 4998);
	request.sort = TREE_ROWS_SINCE;
	request.reverse = true;
	CHECK_INT(tree_rows_make(&rows, &tree, &request), 0);
	n = &tree.node[tree_leaf_of(&tree, 6)];
	CHECK_STR(n->frame.function, "reply");
	CHECK(n->row != TREE_NONE); /* empty now */
	n = &tree.node[tree_leaf_of(&tree, 9)];
	CHECK_STR(n->frame.function, "tiny");
	CHECK(n->row != TREE_NONE && !rows.row[n->row].small);
	CHECK(tree.node[tree_leaf_of(&tree, 6)].row < n->row); /* it fell most */
	/* In a diff the change is that of the compared figure. */
	snap.compared = &value_table[VALUE_ALLOCS];
	sites[1].compared[0] = 7;
	sites[2].compared[1] = 3;
	CHECK_INT(tree_update(&tree, &snap, false, false), 0);
	CHECK_INT(tree.node[TREE_ROOT].since_bytes, -4);
	CHECK_INT(tree.node[TREE_ROOT].moved, 10);
	snap.since = NULL;
	snap.compared = NULL;
	end();
}

int main(void)
{
	RUN(sums_go_up);
	RUN(ancestors);
	RUN(inverted_it_shows_callers);
	RUN(late_names_move_nodes);
	RUN(a_site_gets_another_stack);
	RUN(places_differ_or_not);
	RUN(chains_and_small_children_fold);
	RUN(many_small_children_share_a_line);
	RUN(order_and_holding_it);
	RUN(a_split_chain_stays_split);
	RUN(a_node_that_is_not_shown_is_found_above);
	RUN(sums_hold_for_any_stacks);
	RUN(changes_have_lines);
	return check_end();
}
