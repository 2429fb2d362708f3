/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the process came to be recorded, for reports. Any thread. */
#ifndef SRC_EXPORT_ATTACHED_H
#define SRC_EXPORT_ATTACHED_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* "attach": what it cost; null if this viewer did not attach to the process. */
void attached_json(struct writer *w, const struct snapshot *s);
/* The totals of what the process had before it was recorded. */
void attached_json_before(struct writer *w, const struct snap_totals *t);

#endif
