// SPDX-License-Identifier: GPL-3.0-or-later
// A heap whose holders are known: a map in a namespace, a list, a function's static variable, a
// thread's variable and stack, and two objects that hold each other, lost. It prints "ready" and
// what it holds, frees the map at a first line of input, and ends at the input's end.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>

#define KEEP __attribute__((noinline))

struct Conn;
struct Session {
	std::shared_ptr<Conn> conn;
	char pad[100];
	virtual ~Session() = default;
};
struct Conn {
	std::shared_ptr<Session> session;
	virtual ~Conn() = default;
};
struct Link {
	Link *next;
	void *payload;
};
struct Shape {
	char pad[40];
	virtual ~Shape() = default;
	virtual int sides() { return 0; }
};
struct Circle : Shape {
	int sides() override { return 1; }
};

namespace app {
std::map<int, std::string> *quotes;
static Link *volatile chain;
static Shape *volatile shapes[30];
}
static thread_local void *volatile own_list;

KEEP static void *volatile *memo()
{
	static void *volatile cached;

	return &cached;
}

KEEP static void fill()
{
	app::quotes = new std::map<int, std::string>;
	for (int i = 0; i < 1000; i++)
		(*app::quotes)[i] = std::string(100, 'x');
	for (int i = 0; i < 500; i++)
		app::chain = new Link{ app::chain, malloc(50) };
	for (auto &shape : app::shapes)
		shape = new Circle;
	*memo() = malloc(3333);
}

KEEP static void lose()
{
	for (int i = 0; i < 200; i++) {
		auto session = std::make_shared<Session>();
		session->conn = std::make_shared<Conn>();
		session->conn->session = session;
	}
}

// What these leave on the stack would hold the last blocks that they made.
KEEP static void wipe()
{
	volatile char bytes[16384];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = 0;
}

KEEP static void parse_line(void *volatile block)
{
	char line[16];

	own_list = malloc(777);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		delete app::quotes;
		app::quotes = nullptr;
		wipe();
		puts("freed");
		fflush(stdout);
	}
	free(block);
}

int main()
{
	setvbuf(stdout, nullptr, _IONBF, 0);
	setvbuf(stdin, nullptr, _IONBF, 0);
	fill();
	lose();
	wipe();
	std::thread([] {
		pthread_setname_np(pthread_self(), "reader");
		parse_line(malloc(5000));
	}).join();
	return 0;
}
