# SPDX-License-Identifier: GPL-3.0-or-later
# The programs that rows of the fault matrix run: one to each file, built as tests/targets are.
FAULT_TARGETS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/faults/targets/*.c)) \
	$(patsubst tests/%.cc,$(B)/tests/%,$(wildcard tests/faults/targets/*.cc))
FAULT_HEADERS := $(wildcard tests/faults/targets/*.h tests/targets/*.h)
TEST_EXTRA += $(FAULT_TARGETS)

$(B)/tests/faults/targets/%: tests/faults/targets/%.c $(FAULT_HEADERS) Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread -ldl -lm

$(B)/tests/faults/targets/%: tests/faults/targets/%.cc $(FAULT_HEADERS) Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -o $@ $< -lpthread -ldl
