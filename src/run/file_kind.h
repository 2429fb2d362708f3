/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a file is that -r names. Main thread. */
#ifndef SRC_RUN_FILE_KIND_H
#define SRC_RUN_FILE_KIND_H

enum file_kind {
	FILE_KIND_SEGMENT, /* or nothing that is known: opening it as a segment says why */
	FILE_KIND_REPORT, /* of --format json */
	FILE_KIND_EVENTS, /* of --record-events */
	FILE_KIND_CORE, /* a core file, or one that is compressed */
	FILE_KIND_RECORDING, /* of --record, or a .heaptop snapshot */
};

enum file_kind file_kind_of(const char *path);

#endif
