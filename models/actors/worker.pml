/* A worker asks a database for data, while the database wants to know whether the worker is there.
 * Each can hold its actor while it waits for the other, and then both get stuck. */
#define ACTORS 2
#define TASKS 4
#define DATABASE 0
#define WORKER 1
#include "actor.h"

bit registered, answered;

active proctype Register() { atomic { start(DATABASE, 0); call(2); block_on(2); registered = 1; finish(DATABASE, 0) } }
active proctype Work()     { atomic { start(WORKER, 1); call(3); block_on(3); finish(WORKER, 1) } }
active proctype Ping()     { atomic { start(WORKER, 2); finish(WORKER, 2) } }
active proctype Get()      { atomic { start(DATABASE, 3); answered = registered; finish(DATABASE, 3) } }
active proctype Main()     { atomic { call(0); call(1) } }
