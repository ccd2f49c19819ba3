#define SIZE 2
mtype = { ping, pong };
mtype:colour = { red, green };
typedef Pair { byte x, y; bool set }
chan q = [SIZE] of { mtype, byte };
chan r = [0] of { byte };
hidden byte trash;
byte a[2] = 3;
unsigned u : 4 = 2;
mtype:colour c = red;
Pair pair;
int n = (SIZE + 1) * 2;
ltl p { [] (n > 0 -> <> (n == 0)) && (true U n != 1) }
inline step(x, by) {
  x = x + by;
  if
  :: x > 3 -> x = 0
  :: else
  fi
}
proctype Worker(byte id; chan back) {
  byte i, m
  xr q;
  do
  :: q?ping, i -> back!i
  :: q?[pong, _] && len(q) > 0 -> q??pong(eval(i))
  :: nempty(r); r?<i>
  :: atomic { a[0] == 1 -> a[0]-- ; goto done }
  :: d_step { i++; step(n, 2) } unless { timeout -> break }
  od;
done:
  printf("%d\n", i);
  assert(i < 9)
}
active [2] proctype Main() priority 2 provided (n < 9) {
  pid w;
  w = run Worker(1, r);
  for (u : 0 .. 3) { q!ping, u }
  select (n : 1 .. 3);
  trash = (n > 1 -> pair.x : -a[1]);
end: skip
}
init { run Worker(2, r); q!!pong(1); enabled(1) }
never { accept: do :: !(Worker[1]@done) && Main:w == 1 od }
