/* One call of every place in the code that takes memory or touches a file fails, in turn. */
#ifndef EVERY_PLACE_H
#define EVERY_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/io.h"
#include "base/mem.h"
#include "tools.h"

/* The first call of every place, told by who called whom: the addresses next to it on the
 * stack.  A place that one operation has shown is not tried by the others. */
enum { MOST_PLACES = 1 << 17, MOST_CALLERS = 14 };

extern int callers;
extern uint64_t place_call[MOST_PLACES], place_kind;
extern size_t place_n, places_known;

void note_place(uint64_t nth);

void forget_places(void);

/* Fails a call of every place of `run`, which may use `err`: first memory, also where the room is
 * there already, then files (tiny_budget.h makes sorts go there).  Each time the status must be
 * that of the failure, with a message; or nothing came of it.  At last `run` must succeed.  Returns
 * how many failures there were. */
size_t every_place_fails(nd_status (*run)(void *context), void *context);

#endif
