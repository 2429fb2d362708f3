# SPDX-License-Identifier: GPL-3.0-or-later
# The programs that rows of the fault matrix run: one to each file, built as tests/targets are; and
# the plugins that they load, one shared object to each file in plugin/.
FAULT_TARGETS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/faults/targets/*.c)) \
	$(patsubst tests/%.cc,$(B)/tests/%,$(wildcard tests/faults/targets/*.cc))
FAULT_HEADERS := $(wildcard tests/faults/targets/*.h tests/targets/*.h)
FAULT_PLUGINS := $(patsubst tests/%.c,$(B)/tests/%.so,$(wildcard tests/faults/targets/plugin/*.c)) \
	$(patsubst tests/%.cc,$(B)/tests/%.so,$(wildcard tests/faults/targets/plugin/*.cc))
TEST_EXTRA += $(FAULT_TARGETS) $(FAULT_PLUGINS)

$(B)/tests/faults/targets/%: tests/faults/targets/%.c $(FAULT_HEADERS) Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread -ldl -lm -lutil

$(B)/tests/faults/targets/%: tests/faults/targets/%.cc $(FAULT_HEADERS) Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -o $@ $< -lpthread -ldl

$(B)/tests/faults/targets/plugin/%.so: tests/faults/targets/plugin/%.c $(FAULT_HEADERS) Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -shared -fPIC -Wl,-soname,$*.so -o $@ $<

$(B)/tests/faults/targets/plugin/%.so: tests/faults/targets/plugin/%.cc $(FAULT_HEADERS) Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -shared -fPIC -Wl,-soname,$*.so -o $@ $<

# With a C++ runtime of its own.
TEST_EXTRA += $(B)/tests/faults/targets/plugin/refused_inside.so
$(B)/tests/faults/targets/plugin/refused_inside.so: tests/faults/targets/plugin/refused.cc Makefile
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -shared -fPIC -static-libstdc++ -static-libgcc -o $@ $<

# Small frames without a frame pointer are what these are about.
$(B)/tests/faults/targets/plugin/hazard_%.so: private TARGET_CFLAGS += -fomit-frame-pointer

# What the rows work with: a maker of failing system calls, and a look into segments.
FAULT_TOOLS := $(B)/tests/faults/tools/inject $(B)/tests/faults/tools/look \
	$(B)/tests/faults/tools/ask \
	$(B)/tests/faults/tools/inside $(B)/tests/faults/tools/step
TEST_EXTRA += $(FAULT_TOOLS)

$(B)/tests/faults/tools/inject: tests/faults/tools/inject.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(CFLAGS_ALL) -o $@ $<

$(B)/tests/faults/tools/inside: tests/faults/tools/inside.c shm/layout.h Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(CFLAGS_ALL) -o $@ $<

# A library whose segments are of another version: the same sources, another number.
OTHER := $(B)/tests/faults/other
TEST_EXTRA += $(OTHER)/libheaptop.so

$(OTHER)/libheaptop.so: $(PRELOAD_SRC) $(SHM_SRC) $(wildcard preload/*.h shm/*.h) $(INNER_NAMES) Makefile
	$(call say,LD,$@)
	@mkdir -p $(OTHER)/shm
	$(Q)sed 's/^\(#define HT_VERSION\) .*/\1 99u/' shm/layout.h >$(OTHER)/shm/layout.h
	$(Q)$(CC) -I$(OTHER) $(CPPFLAGS_ALL) $(UNWIND_CFLAGS) $(CFLAGS_ALL) $(PRELOAD_CFLAGS) -O0 $(PRELOAD_LDFLAGS) \
		-o $@ $(PRELOAD_SRC) $(SHM_SRC)

$(B)/tests/faults/targets/attach_raw: private TARGET_CFLAGS += -fno-asynchronous-unwind-tables -fno-unwind-tables
$(B)/tests/faults/targets/fixed_address: private TARGET_CFLAGS += -no-pie -fno-pie

OWN_DAEMON := $(B)/tests/faults/targets/plugin/own_daemon.so
$(B)/tests/faults/targets/own_daemon: tests/faults/targets/own_daemon.c $(OWN_DAEMON)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< $(OWN_DAEMON) '-Wl,-rpath,$$ORIGIN/plugin'

$(B)/tests/faults/targets/leaves_at: shm/layout.h

# An allocator inside the program that is attached to.
JEMALLOC_STATIC := $(filter /%,$(shell $(CC) -print-file-name=libjemalloc.a))
ATTACH_INNER := $(if $(JEMALLOC_STATIC),$(B)/tests/faults/targets/inner/attach_threads)
TEST_EXTRA += $(ATTACH_INNER)

$(B)/tests/faults/targets/inner/attach_threads: tests/faults/targets/attach_threads.c $(FAULT_HEADERS) Makefile
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< $(JEMALLOC_STATIC) -lstdc++ -lpthread \
		-ldl -lm
