# SPDX-License-Identifier: GPL-3.0-or-later
# Stress tests: the code of shm/ under threads, built twice: plain, and with the thread
# sanitizer, which sees shm/ too. Not churn: what it is about takes long, and threads meet in the
# others.

STRESS_SRC := $(wildcard tests/stress/*.c)
STRESS_CC = $(CC) $(CPPFLAGS_ALL) -std=gnu11 -O2 -g $(WARN) $(CFLAGS)
STRESS := $(STRESS_SRC:tests/%.c=$(B)/tests/%)
STRESS_TSAN := $(patsubst tests/%.c,$(B)/tests/%.tsan,$(filter-out %/churn.c,$(STRESS_SRC)))

$(B)/stress/plain/%.o: %.c tests/stress/rules.mk Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) -MMD -MP -c -o $@ $<

$(B)/stress/tsan/%.o: %.c tests/stress/rules.mk Makefile
	$(call say,CC.tsan,$<)
	@mkdir -p $(@D)
	$(Q)$(STRESS_CC) -fsanitize=thread $(NO_TSAN_WARN) -MMD -MP -c -o $@ $<

$(STRESS): $(B)/%: $(B)/stress/plain/%.o $(SHM_SRC:%.c=$(B)/stress/plain/%.o)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ -lpthread

$(STRESS_TSAN): $(B)/%.tsan: $(B)/stress/tsan/%.o $(SHM_SRC:%.c=$(B)/stress/tsan/%.o)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -fsanitize=thread -o $@ $^ -lpthread

# Kept, to be linked again.
.SECONDARY: $(STRESS_SRC:%.c=$(B)/stress/plain/%.o) $(STRESS_SRC:%.c=$(B)/stress/tsan/%.o) \
	$(SHM_SRC:%.c=$(B)/stress/plain/%.o) $(SHM_SRC:%.c=$(B)/stress/tsan/%.o)

TEST_EXTRA += $(STRESS) $(STRESS_TSAN)
