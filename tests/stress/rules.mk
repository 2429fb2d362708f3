# SPDX-License-Identifier: GPL-3.0-or-later
# Stress tests: the code of shm/ under threads, built twice. The second time the sanitizer sees
# shm/ too, so it is compiled into the program and not taken from VIEW_OBJ. Not churn: what it is
# about takes long, and threads meet in the others.

STRESS_SRC := $(wildcard tests/stress/*.c)
STRESS_DEPS := tests/check.h tests/stress/stress.h tests/unit/shm_fixture.h tests/stress/rules.mk \
	$(SHM_SRC) $(wildcard shm/*.h) Makefile
STRESS_CC = $(CC) $(CPPFLAGS_ALL) -std=gnu11 -O2 -g $(WARN) $(CFLAGS)
STRESS_TSAN = -fsanitize=thread $(NO_TSAN_WARN)

$(B)/tests/stress/%.tsan: tests/stress/%.c $(STRESS_DEPS)
	$(call say,CC.tsan,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) $(STRESS_TSAN) -o $@ $< $(SHM_SRC) -lpthread

$(B)/tests/stress/%: tests/stress/%.c $(STRESS_DEPS)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) -o $@ $< $(SHM_SRC) -lpthread

TEST_EXTRA += $(STRESS_SRC:tests/%.c=$(B)/tests/%) \
	$(patsubst tests/%.c,$(B)/tests/%.tsan,$(filter-out %/churn.c,$(STRESS_SRC)))
