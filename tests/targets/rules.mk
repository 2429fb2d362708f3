# SPDX-License-Identifier: GPL-3.0-or-later
# What the target programs need beside themselves: a plugin under two names, to be loaded and unloaded,
# so that another object lies where the first one was.
PLUGINS := $(B)/tests/targets/plugin/one.so $(B)/tests/targets/plugin/two.so
TEST_EXTRA += $(PLUGINS)

$(B)/tests/targets/plugin/%.so: tests/targets/plugin/plugin.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -shared -fPIC -Wl,-soname,$*.so -o $@ $<
