# SPDX-License-Identifier: GPL-3.0-or-later
# What attaches to programs, for tests to run; and what may be loaded into them in our library's place.
TEST_EXTRA += $(addprefix $(B)/tests/tools/,attach cut_core) $(B)/tests/tools/standin/libheaptop.so $(B)/tests/tools/holds.so

$(B)/tests/tools/standin/libheaptop.so: tests/tools/standin.c shm/attached.h Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_TEST) -fPIC -shared -fvisibility=hidden -o $@ $<

$(B)/tests/tools/holds.so: tests/tools/holds.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_TEST) -fPIC -shared -fvisibility=hidden -o $@ $<
