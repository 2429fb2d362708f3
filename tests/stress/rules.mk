# SPDX-License-Identifier: GPL-3.0-or-later
# Stress tests: the code of shm/ under threads, built twice. The second time the sanitizer sees
# shm/ too, so it is compiled into the program and not taken from VIEW_OBJ.

STRESS_SRC := $(wildcard tests/stress/*.c)
STRESS_DEPS := tests/check.h tests/stress/stress.h tests/unit/shm_fixture.h tests/stress/rules.mk \
	$(SHM_SRC) $(wildcard shm/*.h) Makefile
STRESS_CC = $(CC) $(CPPFLAGS_ALL) -std=gnu11 -O2 -g $(WARN) $(CFLAGS)
# gcc says that its sanitizer does not follow fences. What they order here are atomic accesses,
# which are no races to it in any order.
STRESS_TSAN := -fsanitize=thread \
	$(shell $(CC) -Werror -Wno-tsan -x c -c -o /dev/null /dev/null 2>/dev/null && echo -Wno-tsan)

$(B)/tests/stress/%.tsan: tests/stress/%.c $(STRESS_DEPS)
	$(call say,CC.tsan,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) $(STRESS_TSAN) -o $@ $< $(SHM_SRC) -lpthread

$(B)/tests/stress/%: tests/stress/%.c $(STRESS_DEPS)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) -o $@ $< $(SHM_SRC) -lpthread

TEST_EXTRA += $(STRESS_SRC:tests/%.c=$(B)/tests/%) $(STRESS_SRC:tests/%.c=$(B)/tests/%.tsan)
