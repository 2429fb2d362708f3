# SPDX-License-Identifier: GPL-3.0-or-later
# What the target programs need beside themselves: a plugin under two names, to be loaded and unloaded,
# so that another object lies where the first one was; character sets for the same; and one in C++
# whose constructor waits.
PLUGINS := $(patsubst %,$(B)/tests/targets/plugin/%.so,one two waits \
	charset_a charset_b charset_c)
TEST_EXTRA += $(PLUGINS)

$(B)/tests/targets/plugin/%.so: tests/targets/plugin/plugin.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -shared -fPIC -Wl,-soname,$*.so -o $@ $<

$(B)/tests/targets/plugin/charset_%.so: tests/targets/plugin/charset.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -shared -fPIC -Wl,-soname,charset_$*.so -o $@ $<

$(B)/tests/targets/plugin/waits.so: tests/targets/plugin/waits.cc Makefile
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -O1 -g -std=c++17 -pthread -shared -fPIC -o $@ $<

# Preloaded behind libheaptop: an account of its own.
TEST_EXTRA += $(B)/tests/targets/plugin/logger.so
$(B)/tests/targets/plugin/logger.so: tests/targets/plugin/logger.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(TARGET_CFLAGS) -Wno-frame-address -shared -fPIC -o $@ $<

# Linked with a library whose constructor comes before ours.
$(B)/tests/targets/plugin/locale.so: tests/targets/plugin/locale.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -D_GNU_SOURCE $(TARGET_CFLAGS) -shared -fPIC -o $@ $<

$(B)/tests/targets/locale_early: $(B)/tests/targets/plugin/locale.so
$(B)/tests/targets/locale_early: private TARGET_CFLAGS += -Wl,--no-as-needed \
	-Wl,-rpath,'$$ORIGIN/plugin' $(B)/tests/targets/plugin/locale.so

# Linked with a library whose destructor frees a block and loses another.
$(B)/tests/targets/plugin/exit_library.so: tests/targets/plugin/exit_library.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -shared -fPIC -o $@ $<

$(B)/tests/targets/exit_matrix: $(B)/tests/targets/plugin/exit_library.so
$(B)/tests/targets/exit_matrix: private TARGET_CFLAGS += -Wl,--no-as-needed \
	-Wl,-rpath,'$$ORIGIN/plugin' $(B)/tests/targets/plugin/exit_library.so

# With a frame pointer, small frames have no gap, where an older pointer would stay.
$(B)/tests/targets/exit_matrix_cxx: private TARGET_CXXFLAGS += -fno-omit-frame-pointer

# Its allocator is seen by the libraries it loads.
$(B)/tests/targets/own_malloc: TARGET_CFLAGS += -rdynamic -fno-builtin

# The same for mapped memory.
TEST_EXTRA += $(B)/tests/targets/plugin/map_logger.so
$(B)/tests/targets/plugin/map_logger.so: tests/targets/plugin/map_logger.c shm/layout.h Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -Wno-frame-address -shared -fPIC -o $@ $<
