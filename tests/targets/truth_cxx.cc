/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Truth program in C++: every form of operator new and delete under its own site, containers,
 * exceptions, an operator new that fails, a thread_local whose destructor allocates. The C++
 * library asks for a pool of its own before main, so the totals are this account plus that one
 * block.
 */
#include <list>
#include <map>
#include <memory>
#include <new>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <vector>
#include "tests/targets/truth.h"

#ifndef __cpp_sized_deallocation /* clang declares them only when asked to */
void operator delete(void *, std::size_t) noexcept;
void operator delete[](void *, std::size_t) noexcept;
void operator delete(void *, std::size_t, std::align_val_t) noexcept;
void operator delete[](void *, std::size_t, std::align_val_t) noexcept;
#endif

namespace
{

enum {
	PLAIN,
	ARRAY,
	NOTHROW,
	ARRAY_NOTHROW,
	ALIGNED,
	ARRAY_ALIGNED,
	ALIGNED_NOTHROW,
	ARRAY_ALIGNED_NOTHROW,
	VECTOR,
	STRING,
	LIST,
	MAP,
	SHARED,
	THROW,
	THREAD_LOCAL,
	THREAD_LOCAL_END,
	FAILING,
	FORMS = VECTOR
};

constexpr std::align_val_t wide{ 128 };

} // namespace

extern "C" {

NOINLINE void *site_new(size_t n)
{
	return truth_got(PLAIN, ::operator new(n), n);
}

NOINLINE void *site_new_array(size_t n)
{
	return truth_got(ARRAY, ::operator new[](n), n);
}

NOINLINE void *site_new_nothrow(size_t n)
{
	return truth_got(NOTHROW, ::operator new(n, std::nothrow), n);
}

NOINLINE void *site_new_array_nothrow(size_t n)
{
	return truth_got(ARRAY_NOTHROW, ::operator new[](n, std::nothrow), n);
}

NOINLINE void *site_new_aligned(size_t n)
{
	return truth_got(ALIGNED, ::operator new(n, wide), n);
}

NOINLINE void *site_new_array_aligned(size_t n)
{
	return truth_got(ARRAY_ALIGNED, ::operator new[](n, wide), n);
}

NOINLINE void *site_new_aligned_nothrow(size_t n)
{
	return truth_got(ALIGNED_NOTHROW, ::operator new(n, wide, std::nothrow), n);
}

NOINLINE void *site_new_array_aligned_nothrow(size_t n)
{
	return truth_got(ARRAY_ALIGNED_NOTHROW, ::operator new[](n, wide, std::nothrow), n);
}

NOINLINE std::vector<int> *site_vector(size_t n)
{
	auto *v = static_cast<std::vector<int> *>(truth_got(
		VECTOR, ::operator new(sizeof(std::vector<int>)), sizeof(std::vector<int>)));

	new (v) std::vector<int>();
	v->reserve(n);
	truth_got(VECTOR, v->data(), v->capacity() * sizeof(int));
	return v;
}

NOINLINE void site_string(std::string &s, size_t n)
{
	s.reserve(n);
	truth_got(STRING, &s[0], s.capacity() + 1);
}

NOINLINE void site_list(std::list<long> &l)
{
	l.push_back(1);
	truth_got(LIST, &l.back(), 2 * sizeof(void *) + sizeof(long));
}

NOINLINE void site_map(std::map<int, long> &m, int key)
{
	m[key] = 1;
	truth_got(MAP, &m[key], sizeof(std::_Rb_tree_node<std::pair<const int, long>>));
}

/* With the pointer to its functions and two counts. */
constexpr size_t SHARED_BYTES = sizeof(void *) + 2 * sizeof(int) + sizeof(long);

NOINLINE void site_shared(std::shared_ptr<long> &p, long value)
{
	p = std::make_shared<long>(value);
	truth_got(SHARED, p.get(), SHARED_BYTES);
}

/* The runtime asks for the exception object: how large it is, is its own business. */
NOINLINE void site_throw(int value)
{
	truth_sites[THROW].bytes_unknown = 1;
	truth_got(THROW, truth_sites, 0);
	if (value >= 0)
		throw value;
}

NOINLINE char *site_thread_local(size_t n)
{
	return static_cast<char *>(truth_got(THREAD_LOCAL, new char[n], n));
}

NOINLINE void site_thread_local_end(size_t n)
{
	void *p = truth_got(THREAD_LOCAL_END, malloc(n), n);

	if (n % 2) {
		truth_gone(THREAD_LOCAL_END, n);
		free(p);
	}
}

/* No account of its own: the exceptions are the library's, and there is no block. */
NOINLINE void site_failing(size_t huge)
{
	try {
		truth_got(FAILING, ::operator new(huge), huge);
	} catch (const std::bad_alloc &) {
		truth_add(&truth_failed, 1);
	}
	if (truth_got(FAILING, ::operator new[](huge, std::nothrow), huge))
		_exit(3);
	if (truth_got(FAILING, ::operator new(huge, wide, std::nothrow), huge))
		_exit(3);
}
}

namespace
{

using maker = void *(*)(size_t);
const maker makers[FORMS] = { site_new, site_new_array, site_new_nothrow, site_new_array_nothrow,
	site_new_aligned, site_new_array_aligned, site_new_aligned_nothrow,
	site_new_array_aligned_nothrow };

void drop_unaligned(bool array, void *p, size_t n, unsigned form)
{
	if (array && form == 0)
		::operator delete[](p);
	else if (array && form == 1)
		::operator delete[](p, n);
	else if (array)
		::operator delete[](p, std::nothrow);
	else if (form == 0)
		::operator delete(p);
	else if (form == 1)
		::operator delete(p, n);
	else
		::operator delete(p, std::nothrow);
}

void drop_aligned(bool array, void *p, size_t n, unsigned form)
{
	if (array && form == 0)
		::operator delete[](p, wide);
	else if (array && form == 1)
		::operator delete[](p, n, wide);
	else if (array)
		::operator delete[](p, wide, std::nothrow);
	else if (form == 0)
		::operator delete(p, wide);
	else if (form == 1)
		::operator delete(p, n, wide);
	else
		::operator delete(p, wide, std::nothrow);
}

void drop(unsigned site, void *p, size_t n, unsigned form)
{
	truth_gone(site, n);
	if (site >= ALIGNED)
		drop_aligned(site & 1, p, n, form % 3);
	else
		drop_unaligned(site & 1, p, n, form % 3);
}

void forms()
{
	unsigned seed = 7;

	for (unsigned i = 0; i < 4000; i++) {
		unsigned site = i % FORMS;
		size_t n = truth_dice(&seed, 700);
		void *p = makers[site](n);

		if (i % 5)
			drop(site, p, n, i / FORMS);
	}
	::operator delete(nullptr);
	::operator delete[](nullptr, size_t(8));
}

void containers()
{
	static std::vector<int> *kept = site_vector(1000);
	static std::string name;
	std::list<long> l;
	std::map<int, long> m;
	std::shared_ptr<long> p;

	(void)kept;
	site_string(name, 5000);
	for (int i = 0; i < 300; i++) {
		site_list(l);
		site_map(m, i);
		site_shared(p, i);
		truth_gone(SHARED, SHARED_BYTES);
	}
	for (int i = 0; i < 300; i++) {
		truth_gone(LIST, 2 * sizeof(void *) + sizeof(long));
		truth_gone(MAP, sizeof(std::_Rb_tree_node<std::pair<const int, long>>));
	}
	/* `name` is freed by its own destructor, at exit. */
	truth_gone(STRING, name.capacity() + 1);
}

void throw_at(int depth)
{
	volatile char frame[64] = { 0 };

	if (depth)
		throw_at(depth - 1);
	else
		site_throw(frame[0]);
}

void exceptions()
{
	for (int i = 0; i < 1000; i++) {
		try {
			throw_at(i % 50);
		} catch (int) {
			truth_gone(THROW, 0);
		}
	}
}

struct ending {
	size_t bytes;
	char *block;
	explicit ending(size_t n) : bytes(n), block(site_thread_local(n))
	{
	}
	~ending()
	{
		truth_gone(THREAD_LOCAL, bytes);
		delete[] block;
		site_thread_local_end(bytes);
	}
};

void *thread_main(void *arg)
{
	thread_local ending mine(100 + reinterpret_cast<uintptr_t>(arg));

	mine.block[0] = 1;
	return nullptr;
}

/* Not by std::thread, which allocates for itself. */
void threads()
{
	pthread_t thread;

	for (uintptr_t i = 0; i < 40; i++) {
		pthread_create(&thread, nullptr, thread_main, reinterpret_cast<void *>(i));
		pthread_join(thread, nullptr);
	}
}

void names()
{
	static const char *const name[][2] = { { "site_new", "operator new" },
		{ "site_new_array", "operator new[]" },
		{ "site_new_nothrow", "operator new(nothrow)" },
		{ "site_new_array_nothrow", "operator new[](nothrow)" },
		{ "site_new_aligned", "operator new(align)" },
		{ "site_new_array_aligned", "operator new[](align)" },
		{ "site_new_aligned_nothrow", "operator new(align, nothrow)" },
		{ "site_new_array_aligned_nothrow", "operator new[](align, nothrow)" },
		{ "site_vector", "operator new" }, { "site_string", "operator new" },
		{ "site_list", "operator new" }, { "site_map", "operator new" },
		{ "site_shared", "operator new" }, { "site_throw", "malloc" },
		{ "site_thread_local", "operator new[]" }, { "site_thread_local_end", "malloc" } };

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		truth_name(i, name[i][0], name[i][1]);
}

} // namespace

int main(int argc, char **argv)
{
	names();
	forms();
	containers();
	exceptions();
	threads();
	if (argc < 2 || strcmp(argv[argc - 1], "modest") != 0)
		site_failing(size_t(PTRDIFF_MAX) - 4096);
	return 0;
}
