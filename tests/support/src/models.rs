//! Small models that tests of more than one crate tell their stories with.

/// Fails only if the second one is faster.
pub const RACE: &str = "\
byte x;

active proctype Slow() {
    x = 1;
    x = 2
}

active proctype Fast() {
    x == 1;
    assert(x == 1)
}
";

/// One sends, the other answers.
pub const TALK: &str = "\
mtype = { ask, tell };
chan up = [1] of { mtype, byte };
chan down = [0] of { mtype };
byte asked;

active proctype Client() {
    byte n = 3;
    up ! ask, n;
    down ? tell;
    assert(asked == 3)
}

active proctype Server() {
    byte m;
    up ? ask, m;
    asked = m;
    down ! tell
}
";

/// Two locks, taken in different orders.
pub const LOCKS: &str = "bool a, b;
active proctype P() {
  do
  :: atomic { !a -> a = true };
     atomic { !b -> b = true };
     b = false;
     a = false
  od
}
active proctype Q() {
  do
  :: atomic { !b -> b = true };
     atomic { !a -> a = true };
     a = false;
     b = false
  od
}
";
