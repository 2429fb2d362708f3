#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Seeded mistakes: the sources of shm/, and preload/state.h, with one small change each, which the model checker must
# catch; one that survives means that the checker, or its scenarios, would not see such a bug. Run by
# build/tests/model/mutants-N, which sets MODEL_CC, MODEL_SHM_FLAGS and MODEL_OBJ (folder of objects).
set -u
part=${1:-0} parts=${2:-1} # those whose number leaves this rest
work=$MODEL_OBJ/mutants-$part
mkdir -p "$work"
number=0
SECONDS_EACH=100 # of processor time, for a mutant

compile() { # SOURCE OBJECT [FLAGS]: as the build does
	# shellcheck disable=SC2086
	$MODEL_CC ${3:-} $MODEL_SHM_FLAGS -w -c -o "$2" "$1" &&
		objcopy --redefine-sym memcpy=model_memcpy "$2"
}

# Objects of shm/, those in DIR before the others, of PROGRAM and of the checker.
build() { # PROGRAM DIR
	local objects=() o program=$MODEL_OBJ/$1.o
	for o in "$MODEL_OBJ"/shm/*.o; do
		[ -f "$2/${o##*/}" ] && o=$2/${o##*/}
		objects+=("$o")
	done
	[ -f "$2/program.o" ] && program=$2/program.o
	$MODEL_CC -o "$2/run" "${objects[@]}" "$program" "$MODEL_OBJ"/{search,memory,future,segment,hooks}.o
}

change() { # FILE DIR SCRIPT SOURCES PROGRAM: writes the mutant and compiles what it is in
	local source file=$1
	[[ $1 == */* ]] || file=shm/$1
	mkdir -p "$2/${file%/*}"
	sed -zE "$3" "$file" >"$2/$file"
	if cmp -s "$file" "$2/$file"; then
		echo "the change does not apply any more"
		return 1
	fi
	case $1 in
	*.c) compile "$2/$file" "$2/${1%.c}.o" ;;
	*) compile "tests/model/$5.c" "$2/program.o" "-I$2" || return 1
	for source in $4; do
		compile "shm/$source.c" "$2/$source.o" "-I$2" || return 1
	done ;;
	esac
}

# mutant PROGRAM "what is wrong" FILE SED-SCRIPT [SOURCES, for a header: what is compiled with it but
# the program]
mutant() {
	local dir said status
	number=$((number + 1))
	[ $((number % parts)) -eq "$part" ] || return
	dir=$work/$number
	rm -rf "$dir"
	if ! said=$(change "$3" "$dir" "$4" "${5:-}" "$1" 2>&1 && build "$1" "$dir" 2>&1); then
		echo "not ok - mutant, $3: $2: not built: ${said:0:200}"
		return
	fi
	# Of processor time, since the machine may be busy. The shell has a word on crashes.
	{ (ulimit -t "$SECONDS_EACH" && MODEL_FIRST=1000 exec "$dir/run") >"$dir/said" 2>"$dir/trace"; } 2>/dev/null
	status=$?
	said=$(sed -n 's/^not ok - //p' "$dir/said")
	# What is ended by SIGXCPU or SIGKILL has seen nothing.
	[ -z "$said" ] && [ "$status" -gt 128 ] && [ "$status" -ne 152 ] && [ "$status" -ne 137 ] &&
		said="it dies by signal $((status - 128))"
	if [ -n "$said" ]; then
		echo "ok - mutant, $3: $2; caught: $said"
	else
		echo "not ok - mutant, $3: $2: survives"
	fi
}

mutant ring "the head is published before the record" ring.h \
	's/(\tht_fence_release[^\n]*\n)(.*)(\tht_store_release_64\(&t->ring_head[^\n]*\n)/\1\3\2/' ring
mutant ring "no fence before the record" ring.h 's/\tht_fence_release[^\n]*\n//' ring
mutant ring "the head is published relaxed" ring.h \
	's/ht_store_release_64(\(&t->ring_head)/ht_store_relaxed_64\1/' ring
mutant ring "no fence after the copies" ring.c 's/\tht_fence_acquire[^\n]*\n//'
mutant ring "no second look at the head" ring.c \
	's/\tht_fence_acquire[^\n]*\n\trc = source->head\(source->ctx, end\);\n//'
mutant ring "the record in use counts as whole" ring.c \
	's/head - HT_RING_EVENTS \+ 1/head - HT_RING_EVENTS/'
mutant ring "what the second look shows is not counted as lost" ring.c \
	's/(ht_fence_acquire.*)skip_to\(cursor, oldest_whole\(\*end\), lost\)/\1skip_to(cursor, oldest_whole(*end), \&(uint64_t){ 0 })/'
mutant ring "overtaken copies are not thrown away" ring.c \
	's/stale = [^;]*;/stale = 0;/'
mutant ring "a waiting writer takes one record too many" ring.h \
	's/HT_RING_EVENTS - 1; \/\* TAIL/HT_RING_EVENTS; \/* TAIL/' ring
mutant ring "a shared record counts as whole before its mark" ring.c \
	's/out\[i\]\.kind == ht_event_mark\(&out\[i\], \*cursor\)/true/'
mutant ring "an empty record counts as a shared one" ring.c \
	's/\(out\[i\]\.kind & HT_EVENT_KIND\) &&/true \&\&/'
mutant ring "two writers of the shared ring take one number" ring.c \
	's/index = ht_add_relaxed_64\((&thread_at\(s, 0\)->ring_head), 1\);/index = ht_load_relaxed_64(\1);\n\tht_store_relaxed_64(\1, index + 1);/'

mutant walk "the key is published before the payload" live_overflow.c \
	's/(\t\tpayload_store[^\n]*\n)(\t\tht_store_release_64\(&b->key[^\n]*\n)/\2\1/'
mutant walk "the key is published relaxed" live_overflow.c \
	's/ht_store_release_64(\(&b->key\[p->slot\], addr)/ht_store_relaxed_64\1/'
mutant levels "a slot is claimed by a load and a store" live_overflow.c \
	's/if \(!ht_cas_acquire_64\((&b->key\[p->slot\]), &expected, HT_KEY_CLAIMED\)\)\n[^\n]*\n/ht_store_relaxed_64(\1, HT_KEY_CLAIMED);\n/'
mutant levels "a slot is claimed relaxed" live_overflow.c 's/ht_cas_acquire_64\(&b->key/ht_cas_relaxed_64(\&b->key/'
mutant walk "no fence between claim and payload" live_overflow.c 's/\tht_fence_release[^\n]*\n//'
mutant levels "the key is freed before the payload is read" live_overflow.c \
	's/(\tlive_overflow_unpack\(&b->payload\[p.slot\], out\);\n)(.*)(\tht_store_release_64\(&b->key\[p.slot\], HT_KEY_FREE\);\n)/\2\3\1/'
mutant levels "the key is freed relaxed" live_overflow.c \
	's/ht_store_release_64(\(&b->key\[p.slot\], HT_KEY_FREE)/ht_store_relaxed_64\1/'
mutant levels "a bucket passed over is not counted" live_overflow.c \
	's/\t\tht_add_relaxed_64\(&bucket_at\(s, &p\)->overflow, 1\);\n//'
mutant levels "buckets passed over are counted when the block is in" live_overflow.c \
	's/(if \(bucket_put\(s, &p, addr, block\)\))\n\t\t\treturn true;\n[^\n]*overflow, 1\);\n\t\}\n[^\n]*\n/\1\n\t\t\treturn overflow_add(s, \&p, p.passed, 1), true;\n\t}\n/'
mutant levels "counts go down before the key is freed" live_overflow.c \
	's/(\tht_store_release_64\(&b->key\[p.slot\], HT_KEY_FREE\);\n)(\toverflow_add\(s, &p, p.passed, \(uint64_t\)-1\);\n)/\2\1/'
mutant levels "counts do not go down when a block goes" live_overflow.c \
	's/(HT_KEY_FREE\);\n)\toverflow_add[^\n]*\n/\1/'
mutant levels "counts do not go down when a level is full" live_overflow.c \
	's/\toverflow_add(\(s, &p, p.passed, \(uint64_t\)-1\);\n\treturn false;)/(void)overflow_add;\n\treturn false;/'
mutant levels "counts change by a load and a store" live_overflow.c \
	's/ht_add_relaxed_64\(&bucket_at\(s, &q\)->overflow, delta\)/ht_store_relaxed_64(\&bucket_at(s, \&q)->overflow, ht_load_relaxed_64(\&bucket_at(s, \&q)->overflow) + delta)/'
mutant levels "a search looks at the newest level only" live_overflow.c \
	's/if \(level_search\(s, addr, p\)\)\n\t\t\treturn true;/return level_search(s, addr, p);/'
mutant levels "a search stops at the home bucket" live_overflow.c \
	's/if \(ht_load_relaxed_64\(&b->overflow\) == 0\)/if (1)/'
mutant levels "two threads that grow the table add two levels" live_overflow.c \
	's/ht_cas_acq_rel_32\(&s->header->live_levels, &levels, levels \+ 1\)/ht_add_relaxed_32(\&s->header->live_levels, 1)/'
mutant levels "a level is put to use before it is there" live_overflow.c \
	's/while \(grow\(s, levels\)\)/while (ht_add_relaxed_32(\&s->header->live_levels, 1), levels < s->header->live_levels_max)/'
mutant levels "a block whose free was missed stays" live.c \
	's/missed \+ live_overflow_take\(s, addr, &old\[missed\]\)/missed + live_overflow_find(s, addr, \&old[missed])/'

mutant walk "a size is stored after the entry" live_entry.h \
	's/(\tif \(size >= HT_ENTRY_SIZE\) \{.*)(\tht_store_release_64\(entry, live_entry[^\n]*\n)\}/\2\1}/' 
mutant walk "an entry is published relaxed" live_entry.h \
	's/ht_store_release_64(\(entry, live_entry)/ht_store_relaxed_64\1/'
mutant walk "a size is stored relaxed" live_entry.h \
	's/ht_store_release_64(\(\s*entry \+ 1)/ht_store_relaxed_64\1/'
mutant direct "a piece is listed by a store" live_pieces.c \
	's/if \(ht_cas_relaxed_64\(tag, &found, want\)\)/if (ht_store_relaxed_64(tag, want), true)/'
mutant direct "a piece is listed though another thread just did" live_pieces.c \
	's/(\t\tif \(found == want\)\n)/\t\tif (false)\n/'
mutant direct "a piece takes its place by a store" live_pieces.c \
	's/!ht_cas_relaxed_64\(&place->piece, &found, mine\)/(ht_store_release_64(\&place->piece, mine), false)/'
mutant direct "a piece takes another place if it has one" live_pieces.c 's/ && found != mine//'
mutant direct "where a piece is, is published after its tag" live_pieces.c \
	's/(\t\tstruct segment_place \*place = place_at\(s, tag, odd, i\);\n[^\n]*\n\n)/\1\t\tif (!place_piece(place)) place_publish(place, tag);\n/'
mutant direct "where a piece is, is published relaxed" live_pieces.c \
	's/ht_store_release_64\(&place->tag/ht_store_relaxed_64(\&place->tag/'
mutant direct "where a piece is, is taken relaxed" live_pieces.h \
	's/ht_load_acquire_64\(&home->tag\)/ht_load_relaxed_64(\&home->tag)/' 'live live_direct live_pieces'
mutant direct "what a page has is noted by a load and a store" live_direct.c \
	's/!ht_cas_relaxed_8\((&p->state\[page\]), &was, (ht_page_state\(was\) \| bits)\)\)/(ht_store_relaxed_8(\1, \2), false))/'
mutant direct "a watched page has nothing" live_direct.c \
	's/ht_page_state\(ht_load_relaxed_8\((&p->state\[page\])\)\)/ht_load_relaxed_8(\1)/'
mutant direct "a watched page stays so" live_direct.c 's/\tplace_touch\(&?at\);\n//g'
mutant direct "no word is left of a block elsewhere" live.c 's/\tlive_direct_mark\(s, addr\);\n//'
mutant direct "a block elsewhere whose free was missed stays" live.c \
	's/missed \+ live_overflow_take\(s, addr, &old\[missed\]\)/missed + live_overflow_find(s, addr, \&old[missed])/'
mutant direct "a block elsewhere is not found" live.c \
	's/live_direct_take\(s, addr, out\) \|\| live_overflow_take\(s, addr, out\)/live_direct_take(s, addr, out)/'
mutant direct "pages with blocks elsewhere are as others" live.h \
	's/state != HT_PAGE_FIRST \|\|/(state \& HT_PAGE_FIRST) == 0 ||/'
mutant direct "an entry stays" live.h 's/\tlive_clear\(entry\);\n\treturn word;/\treturn word;/'

mutant stack "a node is published relaxed" stack_index.c \
	's/ht_cas_acq_rel_32\(&slots/ht_cas_relaxed_32(\&slots/'
mutant stack "a slot is read relaxed" stack_index.c \
	's/ht_load_acquire_32\(&slots\[i/ht_load_relaxed_32(\&slots[i/'
mutant stack "a slot that is like the one wanted is read relaxed" stack_index.c \
	's/ht_load_acquire_32\(slot\)/ht_load_relaxed_32(slot)/'
mutant stack "a full line is read relaxed" stack_index.c \
	's/ht_load_acquire_32\(&slots\[HT_INDEX_SLOTS/ht_load_relaxed_32(\&slots[HT_INDEX_SLOTS/'
mutant stack "a line is read at once before it is full" stack_index.c \
	's/ht_load_acquire_32\(&slots\[HT_INDEX_SLOTS - 1\]\)/ht_load_acquire_32(\&slots[0])/'
mutant stack "a node is published by a store" stack_index.c \
	's/ht_cas_acq_rel_32\(&slots\[i\], &seen, w->tag \| fresh\)/(ht_store_release_32(\&slots[i], w->tag | fresh), true)/'
mutant stack "a node that another thread put first is not compared" stack_index.c \
	's/if \(seen == 0 && (ht_cas[^;]*\))\) \/\* NODE \*\/\n\t\t\treturn fresh;/if (seen == 0) {\n\t\t\tif (\1)\n\t\t\t\treturn fresh;\n\t\t\tcontinue;\n\t\t}/'
mutant stack "a search passes over free slots" stack_index.c \
	's/for \(uint32_t i = 0; i < HT_INDEX_SLOTS/for (uint32_t i = 1; i < HT_INDEX_SLOTS/'
mutant stack "the next level is taken while a line has a free slot" stack_index.c \
	's/i < HT_INDEX_SLOTS; i\+\+/i < HT_INDEX_SLOTS - 1; i++/'
mutant stack "a full line is not compared" stack_index.c 's/return line_node\(s, slots, w\);/return 0;/'
mutant stack "a full line is the end" stack_index.c \
	's/(return node;\n\t\} while \()line_next\(s, &l\)(\);\n\treturn 0;)/\1false\2/'
mutant stack "only the newest level is searched" stack_index.c 's/i = count; i > 0 && node == 0/i = count; i == count \&\& i > 0/'
mutant stack "a child is published relaxed" stack.c 's/ht_cas_acq_rel_32\(&parent/ht_cas_relaxed_32(\&parent/'
mutant stack "a child is published by a store" stack.c \
	's/ht_cas_acq_rel_32\(&parent->child\[i\], &slot, tag \| fresh\)/(ht_store_release_32(\&parent->child[i], tag | fresh), true)/'
mutant stack "a child is taken relaxed" stack.c \
	's/ht_load_acquire_32\(&n->child\[i/ht_load_relaxed_32(\&n->child[i/'
mutant stack "a child of another thread is not compared" stack.c \
	's/node = child_like\(s, slot, tag, n->parent, &f\);/node = 0;/'
mutant stack "a child that another thread put first is not compared" stack.c \
	's/if \(slot == 0 &&\n?\s*(ht_cas[^;]*fresh\))\) \/\* NODE \*\/\n\t\t\treturn fresh;/if (slot == 0) {\n\t\t\tif (\1)\n\t\t\t\treturn fresh;\n\t\t\tcontinue;\n\t\t}/'
mutant stack "a child goes into the index while a slot is free" stack.c \
	's/if \(slot == 0 &&/if ((fresh \& 1) \&\& slot == 0 \&\&/'
mutant stack "a node that another thread put first is not taken" stack.c \
	's/node = child_put\(s, fresh, hash\);/node = child_put(s, fresh, hash) ? fresh : 0;/'
mutant stack "the rest of a row goes on from its own first node" stack.c \
	's/if \(node != 0\)( \/\* Relaxed: our own)/if (node == 0)\1/'
mutant stack "a node has a pc before it has its parent" stack.c \
	's/(\t\tn\[i\]\.parent = [^\n]*\n)([^\n]*\n)(\t\tht_store_release_64\(&n\[i\]\.pc[^\n]*\n)/\3\2\1/'
mutant stack "a node has a pc before it has its parent, relaxed" stack.c \
	's/ht_store_release_64\(&n\[i\]\.pc/ht_store_relaxed_64(\&n[i].pc/'
mutant stack "a row is linked when it is in" stack.c \
	's/(\trow_fill[^\n]*\n)(.*)(\t\tway_step\(t, w, \+\+fresh[^\n]*\n)/\1\tuint32_t link = stack_node(s, fresh)->child[0];\n\tstack_node(s, fresh)->child[0] = 0;\n\2\3\tht_store_relaxed_32(\&stack_node(s, fresh)->child[0], link);\n/'
mutant stack "nodes are taken before there is room in the index" stack.c 's/ \|\| !child_room\(s, t, w\)//'
mutant stack "a guess is passed on relaxed" stack.c 's/ht_store_release_32\(next/ht_store_relaxed_32(next/'
mutant stack "a guess is taken relaxed" stack.c \
	's/leaf = ht_load_acquire_32/leaf = ht_load_relaxed_32/'
mutant stack "a guess is not compared" stack.c 's/ \|\| !leaf_is\(s, t, w, leaf\)//'
mutant stack "nodes are taken by a load and a store" stack.c \
	's/while \(!ht_cas_relaxed_32\(&s->header->nodes, &first, first \+ count\)\);/while (0);\n\tht_store_relaxed_32(\&s->header->nodes, first + count);/'
mutant stack "indices are taken by a load and a store" commit.c \
	's/while \(!ht_cas_relaxed_32\(t->used, &index, index \+ 1\)\);/while (0);\n\tht_store_relaxed_32(t->used, index + 1);/'
mutant stack "a site is published by a store" stack.c \
	's/ht_cas_acq_rel_32\(&n->site, &site, fresh\)/(ht_store_release_32(\&n->site, fresh), true)/'
mutant stack "a site is published relaxed" stack.c \
	's/ht_cas_acq_rel_32\(&n->site/ht_cas_relaxed_32(\&n->site/'
mutant stack "a site is taken relaxed" stack.c 's/ht_load_acquire_32\(&n->site\)/ht_load_relaxed_32(\&n->site)/'
mutant stack "a refused site is not counted" stack.c \
	's/ht_add_relaxed_64\(&s->header->sites_refused, 1\)/(void)0/'

mutant ancestor "an ancestor's site is published by a store" stack_ancestor.c \
	's/ht_cas_acq_rel_32\(&node_at\(s, node\)->site, &seen, fresh\)/(ht_store_release_32(\&node_at(s, node)->site, fresh), true)/'
mutant ancestor "an ancestor's site is published relaxed" stack_ancestor.c \
	's/ht_cas_acq_rel_32\((&node_at\(s, node\)->site, &seen, fresh)/ht_cas_relaxed_32(\1/'
mutant ancestor "a choice is noted by a store" stack_ancestor.c \
	's/ht_cas_acq_rel_32\(&node_at\(s, node\)->site, &seen, choice\)/(ht_store_release_32(\&node_at(s, node)->site, choice), true)/'
mutant ancestor "a choice is noted relaxed" stack_ancestor.c \
	's/ht_cas_acq_rel_32\((&node_at\(s, node\)->site, &seen, choice)/ht_cas_relaxed_32(\1/'
mutant ancestor "a choice is taken relaxed" stack_ancestor.c \
	's/choice = ht_load_acquire_32/choice = ht_load_relaxed_32/'
mutant ancestor "an ancestor's site is taken relaxed" stack_ancestor.c \
	's/site = ht_load_acquire_32/site = ht_load_relaxed_32/'
mutant ancestor "the site that another thread gave a node is not taken" stack_ancestor.c \
	's/(site, &seen, fresh\)) \? fresh : seen/\1 ? fresh : fresh/'
mutant ancestor "any node takes a site of the reserve" stack_ancestor.c 's/site == 0 && depth <= allowed/site == 0/'
mutant ancestor "ancestors leave the stacks' sites unused" stack_ancestor.h 's/return room - room/return room \/ 2 - room/' 'stack stack_ancestor'

mutant tables "a slot is taken by a load and a store" thread.c \
	's/if \(!ht_cas_acquire_32\(&t->tid, &from, tid\)\)[^\n]*\n\t\treturn false;/if (ht_load_relaxed_32(\&t->tid) != from)\n\t\treturn false;\n\tht_store_relaxed_32(\&t->tid, tid);/'
mutant tables "a swept slot is freed for good though its id lives again" thread.c \
	's/alive\(owner\) \? owner : 0/0/'
mutant tables "a sweep frees a slot without putting it out of reach" thread.c \
	's/if \(ht_cas_acquire_32\(&t->tid, &owner, HT_NONE\)\)[^\n]*\n[^\n]*\n/ht_cas_acquire_32(\&t->tid, \&owner, 0);\n/'
mutant tables "the number of slots is raised by one try" thread.c 's/while \(now < count/if (now < count/'
mutant tables "a shared peak is raised by one try" counter_batch.c 's/while \(counter_batch_above\(all, peak/if (counter_batch_above(all, peak/'
mutant tables "what was settled before is settled again" counter_batch.c 's/live - p->settled, before/live, before/'
mutant tables "a share does not note what all have" counter_batch.c 's/peak = higher\(before, all\)/peak = higher(before, live)/'
mutant tables "a counter is published by a store" counter.c \
	's/while \(!ht_cas_acq_rel_32\(head, &seen, counter\)\);/while (0);\n\tht_store_release_32(head, counter);/'
mutant tables "a counter is published relaxed" counter.c \
	's/ht_cas_acq_rel_32\(head, &seen/ht_cas_relaxed_32(head, \&seen/'
mutant tables "a counter is linked once only" counter.c \
	's/\tdo \{\n(\t\tcounter_at\(s, counter\)->next = seen;\n)\t\} while/\1\twhile/'
mutant tables "a shared counter is published by a store" counter.c \
	's/ht_cas_acq_rel_32\(shared, &seen, fresh\)/(ht_store_release_32(shared, fresh), true)/'
mutant tables "a shared counter is published relaxed" counter.c \
	's/ht_cas_acq_rel_32\(shared, &seen/ht_cas_relaxed_32(shared, \&seen/'
mutant tables "a shared counter is taken relaxed" counter.c \
	's/ht_load_acquire_32\(shared\)/ht_load_relaxed_32(shared)/'
mutant tables "a module is claimed by a load and a store" module.c \
	's/if \(!ht_cas_relaxed_64\(&m->key, &found, key\) && found != key\)/found = ht_load_relaxed_64(\&m->key);\n\t\tif (found == 0)\n\t\t\tht_store_relaxed_64(\&m->key, key);\n\t\telse if (found != key)/'
mutant tables "a module is ready before it is filled" module.c \
	's/(\tpath_fill\(s, m, info->path.*)(\tht_store_release_32\(&m->flags[^\n]*\n)/\2\1/'
mutant tables "a module is ready, relaxed" module.c \
	's/ht_store_release_32\(&m->flags/ht_store_relaxed_32(\&m->flags/'
mutant tables "a module is left to whoever claimed it" module.c \
	's/if \(!\(ht_load_acquire_32\(&m->flags\) & HT_MODULE_READY\)\)[^\n]*/if (found == 0)/'
mutant tables "who fills a module second gives it another path" module.c \
	's/\(void\)ht_cas_relaxed_32\(&m->path, &none, ([^;]*)\);/ht_store_relaxed_32(\&m->path, none + \1);/; s/if \(ht_load_relaxed_32\(&m->path\) == 0\)\n/ht_store_relaxed_32(\&m->path, 0);\n/'
mutant tables "paths are placed by a load and a store" module.c \
	's/while \(!ht_cas_relaxed_32\(&s->header->strings_bytes, &at, at \+ bytes \+ 1\)\);/while (0);\n\tht_store_relaxed_32(\&s->header->strings_bytes, at + bytes + 1);/'
mutant tables "the history has two writers" history.c \
	's/return ht_cas_acquire_64\(&h->writer, &found, mine\);/return true;/'
mutant tables "a writer of the history is taken for one that left" history.c \
	's/return now > since && now - since > LEFT_UNITS;/return true;/'
mutant tables "a writer that left is never followed" history.c \
	's/mine >> SINCE_BITS != 1\)\n\t\treturn true;/mine >> SINCE_BITS != 1)\n\t\treturn false;/'
mutant tables "a merge that was left begins anew" history.c 's/i = h->merged; i </i = 0; i </'
mutant tables "a merge that was left is forgotten" history.c 's/\tif \(h->sequence % 2 != 0\)\n\t\tmerge_go_on\(h\);\n//'
mutant tables "the writer's word is given back relaxed" history.c \
	's/ht_cas_acq_rel_64\(&h->writer, &mine, 0\)/ht_cas_relaxed_64(\&h->writer, \&mine, 0)/'
mutant tables "no fence before points merge" history.c \
	's/(h->sequence \+ 1\);\n)\tht_fence_release\(\);[^\n]*\n/\1/'
mutant tables "the end of a merge is published relaxed" history.c \
	's/ht_store_release_64\(&h->sequence/ht_store_relaxed_64(\&h->sequence/'
mutant tables "no fence between a merge and the next point" history.c \
	's/\tht_fence_release\(\);\n(\tpoint_set)/\1/'

mutant peak "a free in flight is not of the peak" counter_peak.c \
	's/\tsave_before\(s, c, epoch_of\(state\), sum\);/\tif (ht_load_relaxed_32(\&s->header->peak_epoch) >> HT_SIZE_BITS < epoch_of(state))\n\t\tsave_before(s, c, epoch_of(state), sum);/'
mutant peak "an epoch is published before what started it is saved" counter_peak.c \
	's/(\tsave_before[^\n]*\n)(\tpublish[^\n]*\n)/\2\1/'
mutant peak "an epoch is started by a load and a store" counter_peak.c \
	's/if \(ht_cas_relaxed_64\(word, &state, next\)\)\n\t\t\tstate = next;/ht_store_relaxed_64(word, next);\n\t\tstate = next;/'
mutant peak "the epoch of a save is before its bytes" counter_peak.h \
	's/(\tht_store_relaxed_64\(&out->bytes[^\n]*\n)(\tht_store_release_64[^\n]*\n)/\2\1/' 'counter counter_peak counter_settle'
mutant peak "the epoch of a save is relaxed" counter_peak.h \
	's/ht_store_release_64\(&out->blocks/ht_store_relaxed_64(\&out->blocks/' 'counter counter_peak counter_settle'
mutant peak "no fence between a save and what is counted" counter_peak.h \
	's/\tht_fence_release\(\);[^\n]*\n//' 'counter counter_peak counter_settle'
mutant peak "what is freed is not added to the save" counter_peak.h 's/ \+ more.bytes\)/)/' 'counter counter_peak counter_settle'

mutant space "a step is noted by a store" mapping.c \
	's/\(void\)ht_cas_relaxed_64\(&p->mapped, &end, next\)/ht_store_relaxed_64(\&p->mapped, next)/'
mutant space "a step is noted before it is taken" mapping.c \
	's/(\tif \(!extend\(s, end, next\)\))/\tht_cas_relaxed_64(\&p->mapped, \&(uint64_t){ end }, next);\n\1/'
mutant space "a step that another thread took is not seen" mapping.c \
	's/\|\|\s+was_extended\(s, end, next\)/|| (0 \&\& was_extended(s, end, next))/'
mutant space "a step is refused though another thread was ahead" mapping.c \
	's/ && ht_load_relaxed_64\(&p->mapped\) == end\)/)/'
mutant space "the tail is opened" mapping.c 's/end : end - TAIL_BYTES/end : end/'

mutant ring "release is relaxed" atomic.h 's/__ATOMIC_RELEASE\); \}/__ATOMIC_RELAXED); }/g' ring
mutant ring "a release fence is none" atomic.h 's/fence\(__ATOMIC_RELEASE/fence(__ATOMIC_RELAXED/' ring
mutant ring "an acquire fence is none" atomic.h 's/fence\(__ATOMIC_ACQUIRE/fence(__ATOMIC_RELAXED/' ring
mutant stack "acquire is relaxed" atomic.h 's/HT_LOAD\(p, __ATOMIC_ACQUIRE/HT_LOAD(p, __ATOMIC_RELAXED/' 'stack stack_index'
mutant stack "acq_rel is relaxed" atomic.h 's/__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE/__ATOMIC_RELAXED, __ATOMIC_RELAXED/' 'stack stack_index'
mutant levels "a swap that should acquire is relaxed" atomic.h \
	's/__ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE/__ATOMIC_RELAXED, __ATOMIC_RELAXED/' live_overflow
mutant tables "the shared slot is written as if it had one owner" thread.h \
	's/__builtin_expect\(slot != 0, 1\)/1/' thread
mutant tables "counters are added to by a load and a store" segment_types.h \
	's/else\n\t\tht_add_relaxed_64\(counter, value\);/else\n\t\tht_store_relaxed_64(counter, ht_load_relaxed_64(counter) + value);/' 'counter counter_batch'

mutant mappings "the lock is freed relaxed" mappings.c \
	's/ht_store_release_32(\(&h->mapping_lock)/ht_store_relaxed_32\1/'
mutant mappings "the lock is taken relaxed" mappings.c \
	's/ht_cas_acquire_32(\(&h->mapping_lock)/ht_cas_relaxed_32\1/'
mutant mappings "the queue is not checked after the lock was freed" mappings.c \
	's/while \(!queue_is_empty\(h\) && table_open\(s\)\)/while (queue_is_empty(h) \&\& false)/'
mutant mappings "the queue is checked by a load" mappings.c \
	's/return (ht_cas_acq_rel_32\(&h->mapping_queue, &none, 0\))/return ht_load_relaxed_32(\&h->mapping_queue) == none/'
mutant mappings "the lock is not tried after a call was queued" mappings.c \
	's/\tif \(table_open\(s\)\)\n\t\ttable_close\(s\);\n\treturn number/\treturn number/'
mutant mappings "a queued call is published relaxed" mappings.c \
	's/ht_cas_acq_rel_32(\(queue, &before, number\))/ht_cas_relaxed_32\1/'
mutant mappings "queued calls are applied newest first" mappings.c \
	's/for \(; newest != 0; newest = next\) \{[^}]*\}/list = newest;/'
mutant mappings "what failed is counted as unmapped" mappings.c \
	's/\tif \(end->kind == CALL_GONE\)\n\t\tmappings_table_gone/\tif (true)\n\t\tmappings_table_gone/'
mutant mappings "a range leaves the table when the call has ended" mappings.c \
	's/\t\tt\.list = call->kind == CALL_TAKE[^;]*;/\t\tt.list = 0;/'
mutant mappings "changes may be seen before the odd number" mappings.c 's/\tht_fence_release\(\);[^\n]*\n//'

mutant start "recording is published relaxed" preload/state.h \
	's/ht_store_release_pointer\((&state_own, own)\)/__atomic_store_n(\1, __ATOMIC_RELAXED)/'
mutant start "recording is published before its mode" preload/state.h \
	's/(\town->on = way;\n)(\tht_store_release_pointer[^\n]*\n)/\2\1/'
mutant start "hooks load what is published relaxed" preload/state.h \
	's/ht_load_acquire_pointer\((&state_own)\)/__atomic_load_n(\1, __ATOMIC_RELAXED)/g'

rm -rf "$work"
