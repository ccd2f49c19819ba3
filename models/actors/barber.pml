/* A sleeping barber, a client and a chair. The barber waits for the chair, the chair for the client to sit, the client for the barber
 * to cut: if each waits in its turn, all get stuck. */
#define ACTORS 3
#define TASKS 6
#define BARBER 0
#define CLIENT 1
#define CHAIR 2
#include "actor.h"

active proctype Cuts()    { atomic { start(BARBER, 0); finish(BARBER, 0) } }
active proctype IsClean() { atomic { start(CHAIR, 1); finish(CHAIR, 1) } }
active proctype Sits()    { atomic { start(CLIENT, 2); finish(CLIENT, 2) } }
active proctype Taken()   { atomic { start(CHAIR, 3); call(2); await(CHAIR, 2); finish(CHAIR, 3) } }
active proctype Sleeps()  { atomic { start(BARBER, 4); call(3); block_on(3); finish(BARBER, 4) } }
active proctype Wakeup()  { atomic { start(CLIENT, 5); call(0); call(1); block_on(0); finish(CLIENT, 5) } }
active proctype Main()    { atomic { call(5); call(4) } }
