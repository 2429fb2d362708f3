// SPDX-License-Identifier: GPL-3.0-or-later
// A small C++ program that tests/e2e/diff.py builds again and again, each time with one change:
// ADDED, GROWN, MOVED, INLINED or RENAMED. It ends with everything live.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#ifdef RENAMED
#define index index_all
#endif

namespace shop
{
struct Item {
	std::string name;
	int price;
};

class Store {
public:
	void fill(int n);
	void index();
	void remember();
	std::map<std::string, Item *> by_name;

private:
	std::vector<std::unique_ptr<Item>> items;
	std::vector<char *> log;
	Item *make(int i);
};

#ifdef INLINED
inline __attribute__((always_inline))
#else
__attribute__((noinline))
#endif
Item *Store::make(int i)
{
	return new Item{ "an item whose name is long enough for the heap " + std::to_string(i), i };
}

__attribute__((noinline)) void Store::fill(int n)
{
	log.reserve(100);
	for (int i = 0; i < n; i++)
		items.emplace_back(make(i));
#ifdef INLINED
	for (int i = 0; i < n; i++)
		items.emplace_back(make(i));
#endif
#ifdef MOVED
	for (int i = 0; i < 10; i++)
		log.push_back(new char[500]);
#endif
}

__attribute__((noinline)) void Store::index()
{
	for (auto &i : items)
		by_name[i->name] = i.get();
#ifndef MOVED
	for (int i = 0; i < 10; i++)
		log.push_back(new char[500]);
#endif
#ifdef GROWN
	for (int i = 0; i < 50; i++)
		log.push_back(new char[500]);
#endif
}

__attribute__((noinline)) void Store::remember()
{
	log.push_back(new char[7000]);
}
} // namespace shop

int main()
{
	auto *store = new shop::Store;

	store->fill(100);
	store->index();
#ifdef ADDED
	store->remember();
#endif
	std::printf("%zu\n", store->by_name.size());
	std::fflush(stdout);
	_exit(0);
}
