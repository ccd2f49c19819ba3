/* Two partners who hand something over; each waits for the other one to begin. Known, and in baseline.json. */
chan left = [0] of { byte };
chan right = [0] of { byte };

active proctype A() { byte x; left ? x; right ! x }
active proctype B() { byte x; right ? x; left ! x }
