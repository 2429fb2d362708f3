/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help screen. Main thread. */
#ifndef TUI_VIEW_HELP_H
#define TUI_VIEW_HELP_H

#include "tui/ui.h"

extern const struct view view_help;

/* At its top; a row without a question ends it. */
extern const struct view_help_question {
	const char *question;
	const char *key; /* its name in the key table begins so */
	const char *answer;
} view_help_questions[];

#endif
