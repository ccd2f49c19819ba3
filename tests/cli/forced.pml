byte x;

active proctype P() {
  if
  :: x = 1
  :: x = 2
  fi;
  assert(x == 1)
}
