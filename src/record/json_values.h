/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Members of an untrusted JSON object: one that is missing or of another type is 0,
 * false or NULL. `o` may be anything, NULL too. Pure.
 */
#ifndef SRC_RECORD_JSON_VALUES_H
#define SRC_RECORD_JSON_VALUES_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

const struct json_object *json_values_member(const struct json_object *o, const char *key);
/* A whole number; a fraction is cut off, and what does not fit is 0. */
uint64_t json_values_number(const struct json_object *o, const char *key);
bool json_values_has_number(const struct json_object *o, const char *key);
/* Finite. */
double json_values_real(const struct json_object *o, const char *key);
bool json_values_flag(const struct json_object *o, const char *key);
/* The number in a text: "0x7f12". */
uint64_t json_values_hex(const struct json_object *o, const char *key);
/* The number of an array's items. */
size_t json_values_items(const struct json_object *o);

#endif
