/* Actors whose tasks take turns.
 *
 * An actor is a number, and so is a task. A task is a process that runs once, after it was called, and only while it holds its
 * actor; tasks of an actor start in any order. What it does between two places where it can wait is one atomic sequence.
 * All tasks exist from the beginning, so their numbers do not depend on who is called first.
 *
 *   ACTORS, TASKS      how many there are; to be defined before this file is included
 *   call(t)            asks for task t, and goes on
 *   start(a, t)        first statement of task t of actor a: waits until it was called and the actor is free
 *   finish(a, t)       last statement: the actor is free, and whoever waits for t goes on
 *   block_on(t)        waits for task t, and keeps the actor meanwhile
 *   await(a, t)        gives the actor up until task t has finished
 */
bit called[TASKS], finished[TASKS], busy[ACTORS];

inline call(t) { called[t] = 1 }
inline start(a, t) { called[t] && !busy[a] -> busy[a] = 1 }
inline finish(a, t) { finished[t] = 1; busy[a] = 0 }
inline block_on(t) { finished[t] }
inline await(a, t) { busy[a] = 0; finished[t] && !busy[a] -> busy[a] = 1 }
