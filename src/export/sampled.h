/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the program was sampled, in the JSON report. Pure. */
#ifndef SRC_EXPORT_SAMPLED_H
#define SRC_EXPORT_SAMPLED_H

#include "src/export/writer.h"
#include "src/model/snapshot.h"

/* "sampling": the rates, and what recording costs if that was measured. */
void sampled_json(struct writer *w, const struct snap_sampling *s);

#endif
