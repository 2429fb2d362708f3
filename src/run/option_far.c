/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values about other machines (option_far.h). */
#include "src/run/option_far.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "src/far/peer.h"
#include "src/run/option_attach.h"

static int refuse(struct option_error *why, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return -EINVAL;
}

static int text_take(const char **to, const char *value, struct option_error *why)
{
	if (!*value)
		return refuse(why, "must not be empty");
	*to = value;
	return 0;
}

int option_far_via(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.via, value, why);
}

int option_far_agent(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.agent, value, why);
}

int option_far_token_file(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.token_file, value, why);
}

int option_far_sysroot(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.elsewhere.sysroot, value, why);
}

int option_far_binpath(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.elsewhere.binpath, value, why);
}

int option_far_user(struct options *o, const char *value, struct option_error *why)
{
	return text_take(&o->far.user, value, why);
}

int option_far_serve(struct options *o, const char *value, struct option_error *why)
{
	bool is_unix;
	const char *port;

	o->far.steers = strncmp(value, "steer", 5) == 0 && (value[5] == ':' || !value[5]);
	if (o->far.steers)
		value = value[5] ? value + 6 : "-";
	is_unix = strncmp(value, "unix:", 5) == 0 && value[5];
	port = strrchr(value, ':');
	if (strcmp(value, "-") != 0 && !is_unix && !(port && port > value && port[1]))
		return refuse(why,
			"must be - (standard input and output), unix:PATH or ADDRESS:PORT, or "
			"steer:WHERE");
	o->far.serve = value;
	return 0;
}

static bool begins(const char *word, const char *with)
{
	return strncmp(word, with, strlen(with)) == 0;
}

static int url_take(struct options *o, const char *word, struct option_error *why)
{
	int rc = option_values_mode(o, OPTIONS_FAR, why);

	if (rc == 0 && strlen(word) >= OPTIONS_URL_MAX)
		rc = refuse(why, "is too long");
	o->far.url = word;
	return rc ? rc : 1;
}

int option_far_word(struct options *o, const char *word, struct option_error *why)
{
	if (begins(word, "ssh://") || begins(word, "unix:") || begins(word, "tcp://"))
		return url_take(o, word, why);
	if (!o->far.serve || o->mode != OPTIONS_NONE)
		return 0;
	return option_attach_process(o, word, why) == 0 ? 1 : -EINVAL;
}

static const char *via_finish(struct options *o)
{
	if (o->mode != OPTIONS_ATTACH || o->attach.count > 1 || o->attach.wait ||
		o->attach.descendants || !o->attach.text)
		return "--via requires -a PID or -a NAME, of one process on the other side";
	if (!far_place_check_process(o->attach.text))
		return "--via: -a must be a pid, or a name of letters, digits and ._+-";
	o->mode = OPTIONS_FAR;
	return NULL;
}

const char *option_far_finish(struct options *o)
{
	const struct options_far *f = &o->far;

	if (f->via && f->url)
		return "--via cannot be combined with an address (ssh://, unix:, tcp://)";
	if (f->via) {
		const char *conflict = via_finish(o);

		if (conflict)
			return conflict;
	}
	if (f->serve && o->mode != OPTIONS_ATTACH && o->mode != OPTIONS_RUN)
		return "--serve requires a COMMAND or a PID";
	if (f->serve && (o->leak_check || o->hold))
		return "--serve: viewers request leak scans (--serve=steer:WHERE); it excludes "
		       "--leak-check and --hold";
	if (f->serve && (o->batch || o->report))
		return "--serve shows nothing: it excludes -b and --report";
	if ((f->wait_client || f->user) && (!f->serve || o->mode != OPTIONS_RUN))
		return "--wait-client and --user require --serve and a COMMAND";
	if (f->wait_client && strcmp(f->serve, "-") == 0)
		return "--wait-client requires a socket: --serve unix:PATH";
	if (f->token_file && !f->serve && !(f->url && begins(f->url, "tcp://")))
		return "--token-file requires --serve ADDRESS:PORT or tcp://ADDRESS:PORT";
	if ((f->elsewhere.sysroot || f->elsewhere.binpath || f->no_fetch) && o->mode != OPTIONS_FAR)
		return "--sysroot, --binpath and --no-fetch apply only to a program on another "
		       "machine";
	if (o->mode == OPTIONS_FAR && o->sample.given)
		return "--sample and --max-overhead apply only to a program on this machine";
	if (o->mode == OPTIONS_FAR && o->record_events)
		return "the events of a program on another machine cannot be recorded";
	if (f->steer && !f->via && !(f->url && begins(f->url, "ssh://")))
		return "--steer requires ssh://HOST/PID or --via (other agents: "
		       "--serve=steer:WHERE)";
	if (f->steer && o->readonly)
		return "--steer acts on the program: not with --readonly";
	if (o->mode == OPTIONS_FAR && o->leak_check && !f->steer &&
		(f->via || begins(f->url, "ssh://")))
		return "leak scans of a program on another machine require --steer";
	if ((o->mode == OPTIONS_FAR || f->serve) && o->faults)
		return "--faults requires a program that is watched on this machine";
	if (o->mode == OPTIONS_FAR && o->free_stacks)
		return "--free-stacks must be given where the program is started, or attached to";
	return NULL;
}
