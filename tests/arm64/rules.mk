# SPDX-License-Identifier: GPL-3.0-or-later
# make CROSS=aarch64-linux-gnu- soak-arm64: tests on an emulated machine. Its programs.
ARM64_SIGNED := $(patsubst %,$(B)/tests/arm64/%_signed,truth_apis truth_jumps)
ARM64_PROGRAMS := $(ARM64_SIGNED) $(B)/tests/arm64/counts
# Written for x86-64.
ARM64_TARGETS := $(filter-out $(patsubst %,$(B)/tests/targets/%,inner_registers odd_names rbp_borrowed \
	valgrind_pools),$(TARGETS))
ARM64_FAULTS := $(patsubst %,$(B)/tests/faults/targets/%,exec_self fork_handlers fork_in_handler fork_storm fork_ways \
	no_environment prefork sandbox_fork untraceable signal_storm exit_busy) $(B)/tests/faults/tools/ask
ARM64_UNITS := $(patsubst %,$(B)/tests/unit/%,trace_stop forked_copy proc_smaps shm_memory)

$(ARM64_SIGNED): $(B)/tests/arm64/%_signed: tests/targets/%.c $(wildcard tests/targets/*.h) Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -mbranch-protection=standard -o $@ $< -lpthread -ldl -lm

$(B)/tests/arm64/counts: tests/arm64/counts.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread

# ARM64: what tests/arm64/root.sh made.
.PHONY: soak-arm64
soak-arm64: all $(ARM64_TARGETS) $(ARM64_PROGRAMS) $(ARM64_FAULTS) $(ARM64_UNITS)
	$(Q)B='$(B)' tests/arm64/soak.py $(T)
