/* Three things go wrong, in different places. */
byte x;

active proctype p()
{
  if
  :: x = 1; assert(x == 2)
  :: x = 2; assert(x == 1)
  :: x = 3; x == 0
  fi
}
