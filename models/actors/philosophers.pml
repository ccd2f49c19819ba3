/* Forks as actors: a philosopher is a task of the left fork that calls one of the right fork and blocks on it. */
#ifndef N
#define N 4
#endif
#define ACTORS N
#define TASKS 2 * N
#include "actor.h"

byte meals;

/* Task i of fork i: eats as soon as the right fork is there too. */
active [N] proctype Left() {
  atomic { start(_pid, _pid); call(N + _pid); block_on(N + _pid); meals++; finish(_pid, _pid) }
}

/* Task N + i of fork i + 1. */
active [N] proctype Right() {
  atomic { start((_pid - N + 1) % N, _pid); finish((_pid - N + 1) % N, _pid) }
}

active proctype Main() {
  byte i;
  d_step { for (i : 0 .. N - 1) { call(i) } }
}
