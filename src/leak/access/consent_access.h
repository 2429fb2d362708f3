/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Access with the program's consent, where Yama leaves that to the program (prctl(2),
 * PR_SET_PTRACER): its library lets us trace the process until the scan ends, and then the process
 * is read as if we had been permitted to from the start.
 */
#ifndef SRC_LEAK_ACCESS_CONSENT_ACCESS_H
#define SRC_LEAK_ACCESS_CONSENT_ACCESS_H

struct leak_access_ops;

extern const struct leak_access_ops leak_consent_access;

#endif
