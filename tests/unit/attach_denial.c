/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said where the kernel forbids to trace a process: by facts that no one machine has all
 * of. */
#include "src/attach/denial.h"
#include "src/attach/terms.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

#define USER 1000u

static char text[ATTACH_MESSAGE_MAX];

static bool says(const struct denial_facts *f, const char *words)
{
	denial_explain(f, text, sizeof(text));
	if (strstr(text, words) && !strchr(text, '\n'))
		return true;
	fprintf(stderr, "  %s\n", text);
	return false;
}

/* A user's own process, of which all is usual. */
static struct denial_facts own(void)
{
	return (struct denial_facts){ .uid = USER, .euid = USER, .owner = USER };
}

static struct denial_facts root(void)
{
	return (struct denial_facts){ .may_trace = true, .owner = USER };
}

TEST(yama_by_its_scope)
{
	struct denial_facts f = own();

	f.scope = 1;
	CHECK(says(&f, "ptrace_scope is 1"));
	CHECK(says(&f, "sudo sysctl kernel.yama.ptrace_scope=0"));
	f.scope = 2;
	CHECK(says(&f, "ptrace_scope is 2"));
	CHECK(says(&f, "as root"));
	f.scope = 3;
	CHECK(says(&f, "ptrace_scope is 3"));
	CHECK(says(&f, "start the program with heaptop"));
	f = root();
	f.scope = 3;
	CHECK(says(&f, "ptrace_scope is 3"));
}

TEST(users_and_processes_that_protect_themselves)
{
	struct denial_facts f = own();

	f.owner = USER + 1;
	f.scope = 1;
	CHECK(says(&f, "it belongs to another user; run heaptop as root"));
	f = own();
	f.private = true;
	f.scope = 1;
	CHECK(says(&f, "not dumpable"));
	f = own();
	f.apart = true;
	CHECK(says(&f, "another user namespace"));
}

TEST(root_that_is_none)
{
	struct denial_facts f = root();

	f.may_trace = false;
	CHECK(says(&f, "--cap-add=SYS_PTRACE"));
	f = root();
	f.apart = true;
	CHECK(says(&f, "user namespace that is not below"));
}

TEST(security_policies_by_name)
{
	struct denial_facts f = own();

	denial_label("docker-default (enforce)\n", f.label);
	CHECK(says(&f, "this heaptop is confined by \"docker-default (enforce)\""));
	f = root();
	denial_label("system_u:system_r:httpd_t:s0\n", f.its_label);
	CHECK(says(&f, "even to root"));
	CHECK(says(&f, "\"system_u:system_r:httpd_t:s0\""));
	f = own();
	f.deny_ptrace = true;
	CHECK(says(&f, "sudo setsebool deny_ptrace off"));
	f = own();
	CHECK(says(&f, "AppArmor, SELinux, or a container"));
}

TEST(labels_of_the_unconfined_are_none)
{
	char label[DENIAL_LABEL], many[2 * DENIAL_LABEL];

	denial_label("unconfined\n", label);
	CHECK_STR(label, "");
	denial_label("unconfined_u:unconfined_r:unconfined_t:s0-s0:c0.c1023", label);
	CHECK_STR(label, "");
	denial_label("", label);
	CHECK_STR(label, "");
	denial_label("a\033[2Jb\n", label);
	CHECK_STR(label, "a?[2Jb");
	memset(many, 'x', sizeof(many));
	many[sizeof(many) - 1] = '\0';
	denial_label(many, label);
	CHECK_INT(strlen(label), DENIAL_LABEL - 1);
}

TEST(what_protects_a_process_that_may_be_traced)
{
	static const char with[] = "Name:\ta\nx86_Thread_features:\tshstk wrss \n"
				   "x86_Thread_features_locked:\tshstk wrss \n";
	static const char without[] = "Name:\ta\nx86_Thread_features:\t\n"
				      "x86_Thread_features_locked:\tshstk \nSeccomp:\t0\n";
	int rc = 0;

	CHECK(strstr(denial_protection(with, 0, true, &rc), "shadow stack") != NULL);
	CHECK_INT(rc, -ENOTSUP);
	CHECK(denial_protection(without, 0, false, &rc) == NULL);
	CHECK(denial_protection("Name:\ta\n", 1, true, &rc) == NULL);
	CHECK(strstr(denial_protection("Name:\ta\n", 1, false, &rc), "seccomp") != NULL);
	CHECK_INT(rc, -EPERM);
	CHECK(strstr(denial_protection("Name:\ta\nSeccomp:\t1\n", 0, true, &rc), "strict") != NULL);
	CHECK_INT(rc, -EPERM);
	CHECK(denial_protection("Name:\ta\nSeccomp:\t2\n", 1, true, &rc) == NULL);
}

int main(void)
{
	RUN(yama_by_its_scope);
	RUN(users_and_processes_that_protect_themselves);
	RUN(root_that_is_none);
	RUN(security_policies_by_name);
	RUN(labels_of_the_unconfined_are_none);
	RUN(what_protects_a_process_that_may_be_traced);
	return check_end();
}
