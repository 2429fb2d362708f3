/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptop: reads the options, and calls the code that carries them out. */
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "src/marks/mark_command.h"
#include "src/run/batch.h"
#include "src/run/config.h"
#include "src/run/core_target.h"
#include "src/run/detach_command.h"
#include "src/run/diff_command.h"
#include "src/run/event_command.h"
#include "src/run/file_kind.h"
#include "src/run/failure.h"
#include "src/run/final_report.h"
#include "src/run/list_command.h"
#include "src/run/options.h"
#include "src/run/record_run.h"
#include "src/run/record_service.h"
#include "src/run/replay_report.h"
#include "src/run/serve_command.h"
#include "src/run/save_command.h"
#include "src/run/size_command.h"
#include "src/run/trace_command.h"
#include "src/run/still_report.h"
#include "src/show/choose_show.h"
#include "src/show/show.h"
#include "src/util/large_stack.h"
#include "tui/term.h"

/* Whether a diff goes to the screen: unless the output or an option asks for text. */
static bool diff_is_text(const struct options *o)
{
	struct winsize size;

	return o->report ||
	       (!o->script && (!isatty(STDOUT_FILENO) || !term_probe(&size) || !term_can_draw()));
}

/* -b and reports of files that are no segments. -1: it is something else. */
static int file_report(const struct options *o)
{
	if (o->mode == OPTIONS_DIFF)
		return diff_is_text(o) ? diff_command_run(o) : -1;
	if (o->mode != OPTIONS_READ || (!o->report && !o->batch))
		return -1;
	switch (file_kind_of(o->file)) {
	case FILE_KIND_RECORDING:
		return replay_report_run(o);
	case FILE_KIND_EVENTS:
		return event_command_run(o);
	case FILE_KIND_REPORT:
		return still_report_run(o);
	case FILE_KIND_SEGMENT:
	case FILE_KIND_CORE:
		break;
	}
	return -1;
}

/* A core file stays open until the end. */
static int core_file_open(struct options *o)
{
	if (o->mode != OPTIONS_READ)
		return 0;
	if (file_kind_of(o->file) == FILE_KIND_CORE)
		return core_target_open(o);
	if (o->account)
		return failure_print_reason(o->account, "only a core file takes a segment");
	if (o->leak_check && !o->event_format)
		return failure_print_reason("--leak-check", "with -r, this requires a core file");
	return 0;
}

struct arguments {
	int argc;
	char **argv;
};

static int run_all(void *ctx)
{
	static struct config config;
	static struct options o;
	const struct arguments *a = ctx;
	int status;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is an error to report */
	status = options_parse(a->argc, a->argv, &o, stdout, stderr);
	if (status >= 0)
		return status;
	if (o.mode == OPTIONS_MARK)
		return mark_command_print(o.pid, o.mark_name) == 0 ? 0 : FAILURE_EXIT;
	if (o.mode == OPTIONS_RECORD_SERVICE)
		return record_service_run(&o);
	if (o.mode == OPTIONS_DETACH)
		return detach_command_run(&o);
	if (o.mode == OPTIONS_LIST)
		return list_command_print();
	if (o.mode == OPTIONS_CLEAN)
		return list_command_clean();
	if (o.far.serve)
		return serve_command_run(&o);
	status = o.mode == OPTIONS_ATTACH ? choose_show(&o) : -1;
	if (status >= 0)
		return status;
	o.headless = record_run_is_headless(&o);
	config_take(&config, &o);
	if (o.save)
		return save_command_run(&o);
	if (o.trace)
		return trace_command_run(&o);
	if (o.event_format && file_kind_of(o.file) != FILE_KIND_EVENTS)
		return failure_print_reason(
			"--format", "with -r, this requires a recording of events");
	if (o.headless)
		return record_run(&o);
	status = core_file_open(&o);
	if (status != 0)
		return status;
	if (o.sizes)
		return size_command_run(&o);
	status = file_report(&o);
	if (status >= 0)
		return status;
	if (o.report)
		return final_report_run(&o);
	return o.batch ? batch_run(&o) : show_run(&o, &config);
}

int main(int argc, char **argv)
{
	struct arguments a = { argc, argv };

	return large_stack_run(run_all, &a);
}
