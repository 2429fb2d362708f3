/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One of two libraries that are loaded at the same address in turn (hazard_one.c): the same
 * functions, of the same size in memory, with other frames.
 */
#define HAZARD_BYTES 3000
#include "tests/faults/targets/plugin/hazard.h"
