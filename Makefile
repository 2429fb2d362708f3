# SPDX-License-Identifier: GPL-3.0-or-later
# heaptop: one non-recursive Makefile. `make help` lists what it can do.

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=
# Another machine's compiler: make CROSS=aarch64-linux-gnu- (tests/arm64/root.sh sets one up).
CROSS   ?=
B       ?= $(if $(CROSS),build-$(patsubst %-,%,$(notdir $(CROSS))),build)

# One job per processor unless -j says otherwise; several goals are made in the order they are given.
ifeq ($(word 2,$(MAKECMDGOALS)),)
  MAKEFLAGS += -j$(shell nproc)
endif

# make has values of its own for these, so ?= would do nothing.
ifeq ($(origin CC),default)
  CC := $(CROSS)gcc
endif
ifeq ($(origin CXX),default)
  CXX := $(CROSS)g++
endif
ifeq ($(origin AR),default)
  AR := $(CROSS)ar
endif
MACHINE  := $(shell $(CC) -dumpmachine 2>/dev/null)
PKGCONF  ?= $(CROSS)pkg-config
INSTALL  ?= install

ifeq ($(V),1)
  Q :=
  say = @:
else
  Q := @
  say = @printf '  %-7s %s\n' '$(1)' '$(2)'
endif

# ---- deps -----------------------------------------------------------------------------------
# `make deps demo` and `make deps check`: the libraries are not there yet when make reads this file,
# so everything after `deps` is done by a second make.

DEPS_BUILD := gcc g++ libc6-dev make pkg-config libncurses-dev libunwind-dev libdw-dev libelf-dev \
	libiberty-dev libzstd-dev zlib1g-dev libjson-c-dev libvterm-dev
DEPS_TEST := python3 clang clang-format binutils gdb valgrind strace tmux screen mandoc procps \
	libjemalloc2 libtcmalloc-minimal4 libjemalloc-dev libgoogle-perftools-dev libmimalloc-dev libtbb-dev g++-multilib heaptrack \
	git sqlite3 perl ruby nodejs default-jdk-headless vim-tiny curl tar gzip xz-utils dash gawk mawk \
	sed grep findutils coreutils openssl jq libxml2-utils bc redis-server redis-tools util-linux libcap2-bin shellcheck zsh fish \
	libclang-rt-dev dwz memcached lighttpd ripgrep fd-find musl-tools luajit \
	wget qpdf poppler-utils protobuf-compiler graphviz irssi emacs-nox
# For the real programs that only make soak runs: make deps soak.
DEPS_SOAK := vim rustc gfortran cmake zstd zip man-db tcl ed less busybox php-cli \
	lua5.4 guile-3.0 ocaml-nox sbcl erlang-base restic fzf ghostscript gnuplot-nox \
	ffmpeg rsync subversion pandoc w3m chromium nginx-light mosquitto mosquitto-clients postgresql \
	mariadb-server dbus xvfb x11-utils openssh-server openssh-client nano tcc haproxy swi-prolog-nox \
	ksh fish tesseract-ocr imagemagick

ifneq ($(filter deps,$(MAKECMDGOALS)),)

AFTER_DEPS := $(filter-out deps,$(MAKECMDGOALS))
# A demo needs no test programs.
DEPS := $(DEPS_BUILD) $(if $(filter-out demo,$(AFTER_DEPS))$(if $(AFTER_DEPS),,all),$(DEPS_TEST)) \
	$(if $(filter soak,$(AFTER_DEPS)),$(DEPS_SOAK))
ROOT := $(if $(filter-out 0,$(shell id -u)),sudo)

.PHONY: deps $(AFTER_DEPS)
deps:
	@ROOT='$(ROOT)' tests/tools/deps.sh $(DEPS_BUILD) : $(filter-out $(DEPS_BUILD),$(DEPS))

$(AFTER_DEPS): deps
	+@$(MAKE) --no-print-directory $@

else

# ---- libraries ------------------------------------------------------------------------------
# Asked for only when something is built, so that `make help` works on a bare machine.

ifneq ($(filter-out help clean uninstall,$(or $(MAKECMDGOALS),all)),)
  NEED_LIBS := 1
endif

# $(call need,pkg-config name,Debian package)
define need
ifneq ($$(shell $(PKGCONF) --exists $(1) 2>/dev/null && echo yes),yes)
  $$(error $(1) is missing: apt-get install $(2) (or: make deps))
endif
endef

HASH := \#

ifdef NEED_LIBS
  ifeq ($(shell command -v $(PKGCONF)),)
    $(error pkg-config is missing: apt-get install pkg-config (or: make deps))
  endif
  $(eval $(call need,ncursesw,libncurses-dev))
  $(eval $(call need,libunwind,libunwind-dev))
  $(eval $(call need,libdw,libdw-dev))
  $(eval $(call need,libelf,libelf-dev))
  $(eval $(call need,libzstd,libzstd-dev))
  $(eval $(call need,zlib,zlib1g-dev))
  $(eval $(call need,json-c,libjson-c-dev))
  $(eval $(call need,vterm,libvterm-dev))
  IBERTY := $(shell printf '$(HASH)include <libiberty/demangle.h>\nint main(void){return cplus_demangle_v3("_Z1fv",0)==0;}' \
	| $(CC) -x c - -o /dev/null -liberty 2>/dev/null && echo yes)
  ifneq ($(IBERTY),yes)
    $(error libiberty is missing: apt-get install libiberty-dev (or: make deps))
  endif
  VIEW_CFLAGS := $(shell $(PKGCONF) --cflags ncursesw libdw libelf libzstd zlib json-c vterm)
  VIEW_LIBS   := $(shell $(PKGCONF) --libs ncursesw libdw libelf libzstd zlib json-c vterm) -liberty -lm
  # gcc reports the stack use of each function, and what it calls (tests/lint/stack_usage.py).
  STACK_INFO := $(shell $(CC) -Werror -fcallgraph-info=su -x c -E /dev/null >/dev/null 2>&1 && echo -fcallgraph-info=su)
  UNWIND_CFLAGS := $(shell $(PKGCONF) --cflags libunwind)
  # The recorder for 32-bit programs: `full`, where the compiler has what it needs; a stub, which the
  # loader accepts and which does nothing; or none.
  ifneq ($(filter x86_64%,$(MACHINE)),)
    NARROW := $(shell printf '$(HASH)include <stdlib.h>\nlong long f(long long a,long long b){return a/b;}' \
	| $(CC) -m32 -fPIC -x c - -shared -Wl,-z,defs -o /dev/null 2>/dev/null && echo full || \
	{ $(CC) -m32 -nostdlib -x c /dev/null -shared -o /dev/null 2>/dev/null && echo stub; })
  endif
  VIEW_LIBS += -lunwind-ptrace -lunwind-generic
endif

# ---- flags ----------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wswitch-enum \
	-Wimplicit-fallthrough -Wno-unused-parameter
# Warnings are errors with the compilers that the code is developed with, gcc 12 and clang 14: others
# have warnings that we have not seen.
WERROR ?= $(if $(filter 12 14.%,$(shell $(CC) -dumpversion)),1,0)
ifeq ($(WERROR),1)
  WARN += -Werror
endif
OPT := -O2 -g
ifeq ($(DEBUG),1)
  OPT := -O0 -g3 -DHT_DEBUG
endif
CPPFLAGS_ALL := -I. -I$(B)/made -D_GNU_SOURCE -DHEAPTOP_VERSION='"$(VERSION)"' $(CPPFLAGS)
CFLAGS_ALL   := -std=gnu11 $(OPT) $(WARN) $(CFLAGS)
# The tests are many, so they are quick to build and small; a backtrace still has its lines.
OPT_TEST     := $(if $(filter 1,$(DEBUG)),$(OPT),-O1 -g1)
CFLAGS_TEST  := -std=gnu11 $(OPT_TEST) $(WARN) $(CFLAGS)
LDFLAGS_ALL  := $(LDFLAGS)
# gcc says that its thread sanitizer does not follow fences. What they order here are atomic
# accesses, which are no races to it in any order.
NO_TSAN_WARN = $(shell $(CC) -Werror -Wno-tsan -x c -c -o /dev/null /dev/null 2>/dev/null && echo -Wno-tsan)
ifneq ($(SAN),)
  # The preload library stays out of it: a sanitizer's runtime cannot live in other programs.
  VIEW_SAN := -fsanitize=$(SAN) -fno-omit-frame-pointer $(if $(filter thread,$(SAN)),$(NO_TSAN_WARN))
endif
ifeq ($(COVERAGE),1)
  VIEW_SAN += --coverage
endif

# The library runs in programs we do not know: no PLT of its own, no executable stack, no fortify
# symbols newer than the program's libc, every symbol hidden but the hooks, TLS at a fixed offset.
PRELOAD_CFLAGS := -fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-plt -U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=0 -fno-stack-protector -fno-builtin-malloc -fno-builtin-calloc \
	-fno-builtin-realloc -fno-builtin-free -fasynchronous-unwind-tables -fexceptions -fomit-frame-pointer
# i386: a stack may be aligned to 4 bytes, so no register of 16 (shm/atomic.h). The hooks of mmap are
# the only code that wants the narrow off_t.
NARROW_CFLAGS := -m32 -march=i686 -mtune=generic -mno-sse -mno-mmx -Wno-psabi
NARROW_OFFSETS = $(if $(filter preload/hooks_map.c,$<),,-D_FILE_OFFSET_BITS=64)
EXPORTS := $(if $(filter aarch64%,$(MACHINE)),preload/arch/exports_aarch64.map,preload/exports.map)
PRELOAD_LDFLAGS := -shared -Wl,-soname,libheaptop.so -Wl,-z,defs -Wl,-z,relro -Wl,-z,now \
	-Wl,-z,noexecstack -Wl,-z,nodelete -Wl,--sort-section=name -Wl,-Bsymbolic -Wl,--as-needed -Wl,--version-script=$(EXPORTS)

# ---- what is built --------------------------------------------------------------------------

SHM_SRC     := $(sort $(wildcard shm/*.c))
PRELOAD_SRC := $(sort $(wildcard preload/*.c preload/*/*.c))
AGENT_SRC   := $(sort $(wildcard src/agent/*.c))
VIEW_SRC    := $(filter-out $(AGENT_SRC),$(sort $(wildcard src/*/*.c src/*/*/*.c tui/*.c preload/patch/*.c)))
# Attaching to a running program is code for x86-64.
VIEW_SRC    := $(filter-out $(if $(filter x86_64%,$(MACHINE)),src/attach/elsewhere.c, \
	$(filter-out src/attach/elsewhere.c,$(wildcard src/attach/*.c))),$(VIEW_SRC))

PRELOAD_OBJ := $(PRELOAD_SRC:%.c=$(B)/so/%.o) $(SHM_SRC:%.c=$(B)/so/%.o)
VIEW_OBJ    := $(VIEW_SRC:%.c=$(B)/view/%.o) $(SHM_SRC:%.c=$(B)/view/%.o)
MAIN_OBJ    := $(B)/view/src/main.o
AGENT_OBJ   := $(AGENT_SRC:%.c=$(B)/view/%.o)
NARROW_OBJ  := $(PRELOAD_OBJ:$(B)/so/%=$(B)/so32/%)

LIB := $(B)/libheaptop.so
EXE := $(B)/heaptop
# The recorder for 32-bit programs, and a path to either that the loader completes.
LIB32 := $(B)/32/$(if $(filter stub,$(NARROW)),stub/)libheaptop.so
BY_CLASS := $(B)/by-class.made
# The other side alone (--agent), for machines with little on them: static, so it needs libc.a.
AGENT := $(B)/heaptop-agent
# The viewer without main, for the tests: a thin archive, so that each links only what it calls.
VIEWER := $(B)/viewer.a

# Completion is made from the option table, by way of --help all.
COMPLETION := $(B)/completion/heaptop.bash $(B)/completion/heaptop.zsh $(B)/completion/heaptop.fish

# What is made by running the viewer is not made where that does not run.
all: $(LIB) $(if $(NARROW),$(BY_CLASS)) $(EXE) $(B)/demo $(if $(CROSS),,$(COMPLETION))

$(COMPLETION): $(B)/completion/heaptop.%: $(EXE) src/run/completion.awk
	$(call say,AWK,$@)
	@mkdir -p $(@D)
	$(Q)$(EXE) --help all >$@.help && awk -v shell=$* -v heaptop=$(EXE) -f src/run/completion.awk <$@.help >$@ && rm $@.help

$(B)/so/%.o: %.c Makefile
	$(call say,CC.so,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(UNWIND_CFLAGS) $(CFLAGS_ALL) $(PRELOAD_CFLAGS) $(STACK_INFO) -MMD -MP -c -o $@ $<

$(B)/view/%.o: %.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(VIEW_CFLAGS) $(CFLAGS_ALL) $(VIEW_SAN) $(STACK_INFO) -MMD -MP -c -o $@ $<

# The names of allocators' functions.
INNER_NAMES := $(B)/made/preload/inner_names.h
$(B)/so/preload/inner_list.o $(B)/so32/preload/inner_list.o: $(INNER_NAMES)
$(INNER_NAMES): preload/inner_list.txt preload/inner_list.awk
	$(call say,AWK,$@)
	@mkdir -p $(@D)
	$(Q)awk -f preload/inner_list.awk preload/inner_list.txt >$@.new && mv $@.new $@

# The page of --format html, which the assembler includes.
$(B)/view/src/export/html.o $(B)/fuzz/obj/src/export/html.o: $(wildcard src/export/html_page/*)

$(LIB): $(PRELOAD_OBJ) $(EXPORTS)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) $(PRELOAD_LDFLAGS) -o $@ $(PRELOAD_OBJ)

$(B)/so32/%.o: %.c Makefile
	$(call say,CC.32,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(PRELOAD_CFLAGS) $(NARROW_CFLAGS) $(NARROW_OFFSETS) -MMD -MP -c -o $@ $<

ifeq ($(NARROW),full)
$(LIB32): $(NARROW_OBJ) preload/arch/exports_i386.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 $(CFLAGS_ALL) $(LDFLAGS_ALL) \
		$(filter-out %$(EXPORTS),$(PRELOAD_LDFLAGS)) -Wl,--version-script=preload/arch/exports_i386.map -o $@ $(NARROW_OBJ)
else
$(LIB32): Makefile
	@echo 'no recorder for 32-bit programs: $(CC) -m32 lacks its libraries (apt-get install gcc-multilib)'
	@mkdir -p $(@D)
	$(Q)$(CC) -m32 -nostdlib -x c /dev/null -shared -Wl,-soname,libheaptop.so -o $@
endif

$(BY_CLASS): preload/by_class.sh $(LIB32) $(LIB)
	$(Q)preload/by_class.sh '$(CC)' $(B)/by-class libheaptop.so $(LIB32:$(B)/%=%) && touch $@

$(EXE): $(MAIN_OBJ) $(VIEW_OBJ) $(B)/viewer.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(VIEW_SAN) $(LDFLAGS_ALL) -o $@ $(MAIN_OBJ) $(VIEW_OBJ) $(VIEW_LIBS) -lpthread

heaptop-agent: $(AGENT)
$(AGENT): $(AGENT_OBJ) $(VIEWER) $(B)/viewer.list
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS_ALL) $(LDFLAGS_ALL) -static -s -Wl,--gc-sections -o $@ $(AGENT_OBJ) $(VIEWER) -lpthread

$(VIEWER): $(VIEW_OBJ) $(B)/viewer.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsT $@ $(VIEW_OBJ)

# The names of the viewer's objects, from the build folder on, since that may be given as an absolute
# path, too. It changes when a file comes, goes or moves, which no object's
# time tells; all that is linked with them is then linked again.
VIEW_NAMES := $(VIEW_OBJ:$(B)/%=%)
ifneq ($(file <$(B)/viewer.list),$(VIEW_NAMES))
.PHONY: $(B)/viewer.list
endif
$(B)/viewer.list:
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '$(VIEW_NAMES)' >$@

# What such a program may depend on: not on an object that another build made of a file that is gone.
LINKED = $(VIEW_OBJ) $(FUZZ_OBJ) $(VIEWER) $(FUZZ_VIEWER)
# $(call link_viewer,compiler and flags,archive): a program of $< and of what it calls of the viewer.
# The linker says which members it took (-t), and $@.link.d keeps that: the program is linked again when
# one of these objects changes, and not when another does. A linker that does not print members of a
# thin archive as files makes the program depend on the archive.
define link_viewer
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(1) $(LDFLAGS_ALL) -o $@ $< $(2) $(VIEW_LIBS) -lpthread \
		-Wl,--compress-debug-sections=zlib -Wl,-t >$@.took
	$(Q)awk -v program='$@' -v archive='$(2)' 'BEGIN { printf "%s: $$(filter $$(LINKED),", program } \
		/\.o$$/ && index($$0, "$(B)/") == 1 { printf " %s", $$0 } \
		index($$0, archive "(") == 1 { printf " %s", archive } END { print ")" }' $@.took >$@.link.d
	@rm $@.took
endef

# Small programs: no warnings exempted, but built as a user would build them, with frames to see.
TARGET_CFLAGS := -std=gnu11 -O1 -g -Wall -Wextra -fno-omit-frame-pointer -fno-builtin
TARGET_CXXFLAGS := -std=gnu++17 -O1 -g -Wall -Wextra
TARGETS := $(patsubst tests/targets/%.c,$(B)/tests/targets/%,$(wildcard tests/targets/*.c)) \
	$(patsubst tests/targets/%.cc,$(B)/tests/targets/%,$(wildcard tests/targets/*.cc))

$(B)/demo: tests/targets/demo.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread -lm

$(B)/tests/targets/%: tests/targets/%.c $(wildcard tests/targets/*.h) shm/layout.h Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TARGET_CFLAGS) -o $@ $< -lpthread -ldl -lm

$(B)/tests/targets/%: tests/targets/%.cc $(wildcard tests/targets/*.h) shm/layout.h Makefile
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -I. -D_GNU_SOURCE $(TARGET_CXXFLAGS) -o $@ $< -lpthread -ldl

# ---- tests ----------------------------------------------------------------------------------
# Unit and tui tests: one program per file, linked with what it calls of the viewer.
UNIT := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/unit/*.c tests/tui/*.c))
# What else is linked so, for tests to run.
WITH_VIEWER := $(B)/tests/tui/show/show $(B)/tests/bench/frame \
	$(addprefix $(B)/tests/faults/tools/,ask look step) $(addprefix $(B)/tests/tools/,attach cut_core)

$(patsubst %,%.o,$(UNIT) $(WITH_VIEWER)): $(B)/tests/%.o: tests/%.c Makefile
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(VIEW_CFLAGS) $(CFLAGS_TEST) $(VIEW_SAN) -MMD -MP -c -o $@ $<

$(UNIT) $(WITH_VIEWER): %: %.o $(B)/viewer.list | $(VIEWER)
	$(call link_viewer,$(CC) $(CFLAGS_TEST) $(VIEW_SAN),$(VIEWER))

# Files a room needs beyond these rules (stress, model, bench) say so in their own fragment.
-include $(sort $(wildcard tests/*/rules.mk))

# Without libc.a, and with a sanitizer, it is not built, and its tests are skipped.
HAS_STATIC = $(if $(SAN)$(COVERAGE),,$(wildcard $(shell $(CC) -print-file-name=libc.a)))

tests: all $(UNIT) $(TARGETS) $(TEST_EXTRA) $(if $(HAS_STATIC),$(AGENT))

check: tests
	$(Q)B='$(B)' BUILT_BY='$(BUILT_BY)' TESTS='$(UNIT) $(TEST_EXTRA)' tests/run.sh '$(T)'

# In less than a minute from one changed file: what is quick of all kinds of tests, and each job once.
QUICK_TESTS := $(UNIT) $(MODEL_TESTS)
quick: all $(QUICK_TESTS) $(TUI_EXTRA) $(addprefix $(B)/tests/targets/,copies crash holders leaks) \
		$(B)/tests/tools/standin/libheaptop.so $(B)/tests/tools/holds.so
	$(Q)B='$(B)' BUILT_BY='$(BUILT_BY)' LINT_CHANGED=1 TESTS='$(QUICK_TESTS)' \
		tests/run.sh '/tests/(unit|tui|model)/|^tests/(tui|lint)/|^tests/e2e/jobs.py$$'

# The fault matrix as a table; soak: with long runs.
faults: all $(TARGETS) $(TEST_EXTRA)
	$(Q)B='$(B)' tests/faults/matrix.py $(T)

# All that can be recorded beside malloc's blocks, at once.
SOAK_EVERYTHING := --faults --free-stacks --client-requests --allocators $(CURDIR)/tests/soak/everything.rules \
	--ignore libcrypto --ignore libglib

soak: all $(TARGETS) $(TEST_EXTRA) $(B)/tests/tui/flat $(B)/tests/unit/attach_recorded
	$(Q)B='$(B)' SOAK=1 tests/faults/matrix.py $(T)
	$(Q)SOAK=1 $(B)/tests/tui/flat
	$(Q)SOAK=1 $(B)/tests/unit/attach_recorded
	$(Q)B='$(B)' HEAPTOP_SCANS=20 HEAPTOP_COPY=never tests/e2e/leaks_live.py
	$(Q)B='$(B)' HEAPTOP_SCANS=20 HEAPTOP_COPY=always tests/e2e/leaks_live.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/leaks_helped.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/record_faults.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/at_peak.py
	$(Q)B='$(B)' tests/soak/diff_programs.py
	$(Q)B='$(B)' tests/soak/tick_instants.py
	$(Q)B='$(B)' tests/soak/core_programs.py
	$(Q)B='$(B)' tests/soak/retained.py
	$(Q)B='$(B)' tests/soak/attach_servers.py
	$(Q)B='$(B)' tests/soak/attach_glibc.py
	$(Q)B='$(B)' tests/soak/upstream_redis.py $(UPSTREAM_REDIS)
	$(Q)B='$(B)' tests/soak/memcheck_programs.py $(VALGRIND_SOURCE)
	$(Q)B='$(B)' tests/soak/wrong_free_programs.py
	$(Q)B='$(B)' tests/soak/strace_maps.py
	$(if $(MIMALLOC_SOURCE),$(Q)B='$(B)' tests/e2e/inner.py mimalloc)
	$(Q)B='$(B)' tests/e2e/inner.py Rust
	$(Q)B='$(B)' WATCH='--record FILE -d 0.1' tests/faults/matrix.py $(T)
	$(Q)B='$(B)' WATCH='--record-events FILE -d 0.1' tests/faults/matrix.py $(T)
	$(Q)B='$(B)' WATCH='--record-events FILE --lossless -d 0.1' tests/faults/matrix.py $(T)
	$(Q)B='$(B)' SOAK=1 WATCH='$(SOAK_EVERYTHING)' tests/faults/matrix.py P
	$(Q)B='$(B)' SOAK=1 tests/e2e/exit_matrix.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/narrow.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/exit_programs.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/exit_scan.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/stacks.py
	$(Q)B='$(B)' SOAK=1 tests/e2e/far_links.py
	$(Q)B='$(B)' tests/fuzz/fuzz.py --seconds $(FUZZ_SECONDS)
	$(Q)B='$(B)' tests/tui/keys_live.py $(FUZZ_SECONDS)
	$(Q)B='$(B)' tests/soak/rss_named.py

demo: all
	$(Q)$(EXE) -- $(B)/demo 3600

# Pictures of the screen: the manual's and README's demo are drawn anew, the fixed lines of README's others are set right.
pictures: all $(B)/tests/tui/show/show
	$(Q)B='$(B)' tests/tui/pictures.py --write

# What the screen says and how it looks, in tests/tui/golden and in the manual: look at the difference before you
# commit it.
golden: $(B)/tests/tui/golden $(B)/tests/tui/show/show
	$(Q)GOLDEN_UPDATE=1 $(B)/tests/tui/golden
	$(Q)B='$(B)' tests/tui/pictures.py --write-manual

# ---- lint -----------------------------------------------------------------------------------

# For tests/lint/compilers.sh: the compiler that has built without a warning.
BUILT_BY := $(if $(filter 1,$(WERROR)),$(if $(filter 1,$(DEBUG)),,$(CC)))

lint: all
	$(Q)B='$(B)' BUILT_BY='$(BUILT_BY)' tests/run.sh '^tests/lint/'

# The C sources of the tests, read and not built, by another compiler than theirs.
SYNTAX_SRC := $(wildcard tests/unit/*.c tests/tui/*.c tests/tui/show/*.c tests/stress/*.c tests/model/*.c \
	tests/bench/*.c tests/faults/tools/*.c tests/tools/*.c tests/fuzz/*.c)
syntax: $(SYNTAX_SRC:%.c=$(B)/syntax/%.read)
$(B)/syntax/%.read: %.c Makefile
	$(call say,READ,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(VIEW_CFLAGS) $(CFLAGS_TEST) -fsyntax-only -MMD -MP -MF $@.d -MT $@ $< && touch $@

# ---- install --------------------------------------------------------------------------------

MAN := $(wildcard man/*.[1-9])
# Where a page goes, below PREFIX/share.
man_at = man/man$(patsubst .%,%,$(suffix $(1)))/$(notdir $(1))
MAN_AT := $(foreach page,$(MAN),$(call man_at,$(page)))

# Where each shell looks, below PREFIX/share, and under what name.
COMPLETION_AT := bash-completion/completions/heaptop zsh/site-functions/_heaptop \
	fish/vendor_completions.d/heaptop.fish

# The JSON Schema of the report.
SCHEMA := src/export/heaptop-report.schema.json

install: $(LIB) $(if $(NARROW),$(BY_CLASS)) $(EXE) $(COMPLETION)
	$(INSTALL) -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(PREFIX)/lib/heaptop' '$(DESTDIR)$(PREFIX)/include' \
		'$(DESTDIR)$(PREFIX)/share/heaptop' \
		$(patsubst %,'$(DESTDIR)$(PREFIX)/share/%',$(sort $(dir $(MAN_AT) $(COMPLETION_AT))))
	$(INSTALL) -m 755 $(EXE) '$(DESTDIR)$(PREFIX)/bin/heaptop'
	$(INSTALL) -m 644 preload/heaptop.h '$(DESTDIR)$(PREFIX)/include/heaptop.h'
	$(INSTALL) -m 644 $(LIB) '$(DESTDIR)$(PREFIX)/lib/heaptop/libheaptop.so'
	$(if $(NARROW),$(INSTALL) -D -m 644 $(LIB32) '$(DESTDIR)$(PREFIX)/lib/heaptop/$(LIB32:$(B)/%=%)')
	$(if $(NARROW),rm -rf '$(DESTDIR)$(PREFIX)/lib/heaptop/by-class')
	$(if $(NARROW),[ ! -d $(B)/by-class ] || cp -RP $(B)/by-class '$(DESTDIR)$(PREFIX)/lib/heaptop/by-class')
	$(foreach page,$(MAN),$(INSTALL) -m 644 $(page) '$(DESTDIR)$(PREFIX)/share/$(call man_at,$(page))' &&) true
	$(INSTALL) -m 644 $(SCHEMA) '$(DESTDIR)$(PREFIX)/share/heaptop/$(notdir $(SCHEMA))'
	$(INSTALL) -m 644 $(B)/completion/heaptop.bash '$(DESTDIR)$(PREFIX)/share/$(word 1,$(COMPLETION_AT))'
	$(INSTALL) -m 644 $(B)/completion/heaptop.zsh '$(DESTDIR)$(PREFIX)/share/$(word 2,$(COMPLETION_AT))'
	$(INSTALL) -m 644 $(B)/completion/heaptop.fish '$(DESTDIR)$(PREFIX)/share/$(word 3,$(COMPLETION_AT))'

uninstall:
	rm -f '$(DESTDIR)$(PREFIX)/bin/heaptop' '$(DESTDIR)$(PREFIX)/lib/heaptop/libheaptop.so' \
		'$(DESTDIR)$(PREFIX)/include/heaptop.h' \
		'$(DESTDIR)$(PREFIX)/share/heaptop/$(notdir $(SCHEMA))' \
		$(patsubst %,'$(DESTDIR)$(PREFIX)/share/%',$(MAN_AT) $(COMPLETION_AT))
	rm -rf '$(DESTDIR)$(PREFIX)/lib/heaptop/32' '$(DESTDIR)$(PREFIX)/lib/heaptop/by-class'
	-rmdir '$(DESTDIR)$(PREFIX)/lib/heaptop' '$(DESTDIR)$(PREFIX)/share/heaptop'

.PHONY: all heaptop-agent check quick tests faults soak demo pictures golden lint syntax install uninstall clean help deps
help:
	@echo 'make                  build/heaptop and build/libheaptop.so (CROSS=aarch64-linux-gnu-: for another machine)'
	@echo 'make heaptop-agent    build/heaptop-agent: static, to show programs of another machine here (CROSS=...)'
	@echo 'make deps             install what build and tests need (Debian/Ubuntu, apt-get, asks for root)'
	@echo 'make demo             run heaptop live on a small demo program'
	@echo 'make check            all tests; last line: N passed, N failed, N skipped (T=PATTERN: some)'
	@echo 'make quick            some of them, in less than a minute: before each commit'
	@echo 'make faults           the fault matrix as a table (T="A1 E": rows, groups); make soak: with long runs'
	@echo 'make soak-arm64       CROSS=...: tests on an emulated arm64 machine (ARM64=DIR of tests/arm64/root.sh)'
	@echo 'make lint             formatting, include rules, static analysis, man pages'
	@echo 'make bench            what heaptop costs beside other recorders (T=PATTERN, BENCH_ROUNDS=5, QUICK=1)'
	@echo 'make bench-programs   how many times the time of some 80 real programs it takes (T=PATTERN, BENCH_ROUNDS=5)'
	@echo 'make bench-against    the recorder beside OLD=FILE, the libheaptop.so of another tree (T=PATTERN, BENCH_ROUNDS=5)'
	@echo 'make bench-readme     the tables of the last make bench, into tests/bench/README.md and README.md (T: of make bench T=...)'
	@echo 'make bench-instructions  instructions per pair, beside those accepted (ACCEPT=1, FUNCTIONS=1, T=PATTERN)'
	@echo 'make pictures         README.md and the manual show the screen as it is now'
	@echo 'make golden           tests/tui/golden and the manual show it as it is now'
	@echo 'make fuzz             changed input for readers, parsers, names (clang; FUZZ_SECONDS=60 each)'
	@echo 'make fuzz_keys        the screen under random keys, clicks and sizes (clang; KEYS_EVENTS=1000000)'
	@echo 'make install          PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)'
	@echo 'make uninstall clean'
	@echo 'V=1 shows commands; DEBUG=1, SAN=address|undefined|thread, COVERAGE=1, WERROR=1'

clean:
	rm -rf $(B)

-include $(shell find $(B) -path $(B)/lint -prune -o -name '*.d' -print 2>/dev/null)
.DELETE_ON_ERROR:

endif # deps
