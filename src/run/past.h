/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a run keeps of the past: histories in memory (histories.h). Main thread. */
#ifndef SRC_RUN_PAST_H
#define SRC_RUN_PAST_H

#include "src/run/histories.h"
#include "src/run/options.h"

struct past {
	struct histories *histories;
};

/* 0, or after one line on stderr the exit status to end with. */
int past_open(struct past *p, const struct options *o);
/* A refresh: adds the program's newest snapshot (NULL: there is none). */
void past_add(struct past *p, struct snapshot *now);
/* Drops everything: also what holds segments open. */
void past_close(struct past *p);

#endif
