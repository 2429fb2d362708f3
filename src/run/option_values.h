/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of options: one function for each option that takes one, which checks the value and
 * stores it in struct options. Pure. Called by src/run/options.c on the main thread.
 */
#ifndef SRC_RUN_OPTION_VALUES_H
#define SRC_RUN_OPTION_VALUES_H

#include "src/model/filter.h"
#include "src/run/option_types.h"

/* Why a value was refused. */
struct option_error {
	char text[FILTER_WHY_MAX];
};

/* Stores a value: 0, or -EINVAL with `why` filled. */
typedef int option_values_set(struct options *o, const char *value, struct option_error *why);

option_values_set option_values_mark;
option_values_set option_values_mark_every;
option_values_set option_values_diff;
option_values_set option_values_read;
option_values_set option_values_list;
option_values_set option_values_clean;
option_values_set option_values_delay;
option_values_set option_values_frames;
option_values_set option_values_output;
option_values_set option_values_record_events;
option_values_set option_values_trace;
option_values_set option_values_source_path;
option_values_set option_values_script;
option_values_set option_values_top;
option_values_set option_values_depth;
option_values_set option_values_sort;
option_values_set option_values_group;
option_values_set option_values_filter;
option_values_set option_values_format;
option_values_set option_values_value;
option_values_set option_values_fail_on;
option_values_set option_values_allocators;
option_values_set option_values_suppressions;
option_values_set option_values_ignore;
option_values_set option_values_only;
option_values_set option_values_leak_check;
option_values_set option_values_leak_roots;
option_values_set option_values_leak_heuristics;
option_values_set option_values_leak_copy;
option_values_set option_values_sample;
option_values_set option_values_max_overhead;
option_values_set option_values_color;
option_values_set option_values_follow;
option_values_set option_values_no_follow;
option_values_set option_values_no_follow_fork;
option_values_set option_values_library;
option_values_set option_values_history;
option_values_set option_values_record;
option_values_set option_values_record_limit;
option_values_set option_values_record_rate;
option_values_set option_values_record_service;
option_values_set option_values_profile;
option_values_set option_values_at;

/* Sets the mode of the command line. 0, or -EINVAL with `why` filled when it has another one. */
int option_values_mode(struct options *o, enum options_mode mode, struct option_error *why);

/* The choices of an option whose values are words; NULL for any other option. */
struct option_words {
	const char *option;
	const char *const *words; /* NULL at the end */
};
const struct option_words *option_values_words(const char *option);

#endif
