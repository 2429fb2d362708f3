/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The processes of a launch in reports: each with its peak, and all as one. Pure. */
#ifndef SRC_EXPORT_LAUNCH_H
#define SRC_EXPORT_LAUNCH_H

#include "src/export/export.h"
#include "src/export/writer.h"

/* The list; nothing without o->launch. */
void launch_text(struct strbuf *out, const struct export_options *o);
/* "launch", without its sum; the caller ends the object. False: there is none. */
bool launch_json(struct writer *w, const struct export_options *o);

#endif
