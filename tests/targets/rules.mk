# SPDX-License-Identifier: GPL-3.0-or-later
# What the target programs need beside themselves: a plugin under two names, to be loaded and unloaded,
# so that another object lies where the first one was; character sets for the same; and one in C++
# whose constructor waits.
PLUGINS := $(patsubst %,$(B)/tests/targets/plugin/%.so,one two waits \
	charset_a charset_b charset_c)
TEST_EXTRA += $(PLUGINS)
soak-arm64: $(PLUGINS)

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
$(B)/tests/targets/own_malloc $(B)/tests/targets/malloc_inside: TARGET_CFLAGS += -rdynamic -fno-builtin

# The same for mapped memory.
TEST_EXTRA += $(B)/tests/targets/plugin/map_logger.so
$(B)/tests/targets/plugin/map_logger.so: tests/targets/plugin/map_logger.c shm/layout.h Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -Wno-frame-address -shared -fPIC -o $@ $<
# A library that brings an allocator of its own.
TEST_EXTRA += $(B)/tests/targets/plugin/inner.so
$(B)/tests/targets/plugin/inner.so: tests/targets/plugin/inner.c Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TARGET_CFLAGS) -shared -fPIC -Wl,-soname,inner.so -o $@ $<

# Truth programs with an allocator inside: linked statically with all of one, where that is installed; by its
# own names; and without symbols but the exported ones.
INNER_STATIC := $(filter /%,$(foreach a,jemalloc tcmalloc_minimal,$(shell $(CC) -print-file-name=lib$(a).a)))
# No distribution has mimalloc so: from its source, for make soak MIMALLOC_SOURCE=DIRECTORY.
ifneq ($(MIMALLOC_SOURCE),)
INNER_STATIC += $(B)/tests/targets/inner/libmimalloc.a
$(B)/tests/targets/inner/libmimalloc.a: $(MIMALLOC_SOURCE)/src/static.c Makefile
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -O2 -g -w -I$(MIMALLOC_SOURCE)/include -DMI_MALLOC_OVERRIDE -c -o $@.o $< && $(AR) rcs $@ $@.o
endif
INNER_TRUTHS := truth_threads truth_queue truth_fork truth_jumps truth_cxx
INNER := $(foreach a,$(patsubst lib%.a,%,$(notdir $(INNER_STATIC))),$(addprefix $(B)/tests/targets/inner/static/$(a)/,$(INNER_TRUTHS))) \
	$(if $(wildcard /usr/include/mimalloc.h),$(B)/tests/targets/inner/mimalloc) \
	$(if $(wildcard /usr/include/gperftools/tcmalloc.h),$(B)/tests/targets/inner/tcmalloc) \
	$(if $(wildcard /usr/include/jemalloc/jemalloc.h),$(B)/tests/targets/inner/jemalloc) \
	$(if $(wildcard /usr/include/tbb/scalable_allocator.h),$(B)/tests/targets/inner/tbb) \
	$(if $(and $(filter %/libjemalloc.a,$(INNER_STATIC)),$(wildcard $(addsuffix /rustc,$(subst :, ,$(PATH))))),$(B)/tests/targets/inner/rust) \
	$(B)/tests/targets/inner/stripped
TEST_EXTRA += $(INNER)

inner_source = $(firstword $(wildcard tests/targets/$(1).c tests/targets/$(1).cc))
define inner_program
$(B)/tests/targets/inner/static/$(1)/$(2): $(call inner_source,$(2)) $(filter %/lib$(1).a,$(INNER_STATIC)) $(wildcard tests/targets/*.h) Makefile
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(if $(filter %.cc,$(call inner_source,$(2))),$(CXX) $(TARGET_CXXFLAGS),$(CC) $(TARGET_CFLAGS)) -I. -D_GNU_SOURCE \
		-o $$@ $$< $(filter %/lib$(1).a,$(INNER_STATIC)) -lstdc++ -lpthread -ldl -lm
endef
$(foreach a,$(patsubst lib%.a,%,$(notdir $(INNER_STATIC))),$(foreach t,$(INNER_TRUTHS),$(eval $(call inner_program,$(a),$(t)))))

$(B)/tests/targets/inner/mimalloc: INNER_LIBS := -lmimalloc
$(B)/tests/targets/inner/tbb: INNER_LIBS := -ltbbmalloc
$(B)/tests/targets/inner/tcmalloc: INNER_LIBS := -ltcmalloc_minimal
$(B)/tests/targets/inner/jemalloc: INNER_LIBS := $(filter %/libjemalloc.a,$(INNER_STATIC)) -lstdc++
$(B)/tests/targets/inner/%: tests/targets/inner/%.c $(wildcard tests/targets/*.h) Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< $(INNER_LIBS) -lpthread -lm

# The names that the crate's jemalloc has.
RUST_NAMES := malloc calloc realloc free aligned_alloc posix_memalign memalign valloc malloc_usable_size mallocx rallocx xallocx sallocx \
	dallocx sdallocx nallocx
$(B)/tests/targets/inner/rust: tests/targets/inner/rust.rs $(filter %/libjemalloc.a,$(INNER_STATIC)) Makefile
	$(call say,RUSTC,$@)
	@mkdir -p $(@D)
	$(Q)objcopy $(foreach f,$(RUST_NAMES),--redefine-sym $(f)=_rjem_$(f)) $(filter %/libjemalloc.a,$(INNER_STATIC)) $@.a
	$(Q)MAKEFLAGS= rustc --edition 2018 -g -O -C link-arg=$@.a -C link-arg=-lm -C link-arg=-lc -o $@ $<

# Exported, and nothing else: as a released program that lets its plugins use its pools.
$(B)/tests/targets/inner/stripped: tests/targets/inner_pool.c $(wildcard tests/targets/*.h) Makefile
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -rdynamic -s -o $@ $< -lpthread

# The same for i386, where that builds (tests/e2e/narrow.py).
NARROW_TARGETS := $(if $(filter full,$(NARROW)),$(addprefix $(B)/tests/targets/32/,crash mixed \
	narrow_odd narrow_stacks pooled told truth_apis truth_exit truth_fork truth_jumps truth_maps truth_queue \
	truth_teardown truth_threads))
NARROW_CXX := $(if $(NARROW_TARGETS),$(if $(filter /%,$(shell $(CXX) -m32 -print-file-name=libstdc++.so)),$(addprefix \
	$(B)/tests/targets/32/,truth_cxx wrong_frees)))
TEST_EXTRA += $(NARROW_TARGETS) $(NARROW_CXX)
$(B)/tests/targets/32/narrow_stacks: private TARGET_CFLAGS += -fPIC -fomit-frame-pointer
$(NARROW_TARGETS): $(B)/tests/targets/32/%: tests/targets/%.c $(wildcard tests/targets/*.h) Makefile
	$(call say,CC.32,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread -ldl -lm

$(NARROW_CXX): $(B)/tests/targets/32/%: tests/targets/%.cc $(wildcard tests/targets/*.h) Makefile
	$(call say,CXX.32,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -m32 -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -o $@ $< -lpthread

# The mathematics without numbers of 128 bits.
TEST_EXTRA += $(if $(filter full,$(NARROW)),$(B)/tests/targets/32/poisson)
$(B)/tests/targets/32/poisson: tests/unit/shm_poisson.c shm/poisson.c $(wildcard shm/*.h) tests/check.h Makefile
	$(call say,CC.32,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -I. -D_GNU_SOURCE $(CFLAGS_TEST) -o $@ $< shm/poisson.c -lm
