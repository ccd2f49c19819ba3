/* A counter that nothing reads is not part of the state: a loop does not restore it. */
int rounds;
bool done;
active proctype Worker() { do :: rounds++ od }
ltl ends { <> done }
