#include "parts/limit.h"

active proctype p()
{
  assert(LIMIT == 7)
}
