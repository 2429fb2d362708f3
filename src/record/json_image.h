/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One process of a JSON report as it is read (json_report.h): takes the report's members, parsed,
 * one after another, and owns all that the snapshot points to. Main thread.
 */
#ifndef SRC_RECORD_JSON_IMAGE_H
#define SRC_RECORD_JSON_IMAGE_H

#include <json-c/json.h>
#include <stdbool.h>
#include "src/model/snapshot.h"

struct json_image;

/* NULL: no memory. */
struct json_image *json_image_new(void);
void json_image_free(struct json_image *m);
/* A member of the report other than "sites" and "children"; one that is not known is skipped.
 * False: no memory. */
bool json_image_member(struct json_image *m, const char *key, const struct json_object *value);
/* An item of "sites". 0; -ENOMEM; -ERANGE: its id is none that a site of a program may have. */
#define JSON_IMAGE_SITES_MAX SNAP_INHERITED_FIRST /* ids are below */
int json_image_site(struct json_image *m, const struct json_object *site);
/* An item of "children", which the image takes over. False: no memory, and it is dropped. */
bool json_image_child(struct json_image *m, struct snapshot *child);
/* The snapshot, which owns the image from now on. NULL: no memory; the image is freed. */
struct snapshot *json_image_finish(struct json_image *m);

#endif
