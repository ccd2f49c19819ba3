#ifndef N
#define N 1
#endif

active proctype p()
{
  assert(N < 5)
}
