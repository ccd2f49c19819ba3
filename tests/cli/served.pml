/* The setter can never go on; the run that ends never serves. */
byte n, q;
active proctype Waiter() { q == 7 }
active proctype Toggle() { do :: n = 1 - n :: break od }
active proctype Setter() { n > 5; q = 7 }
ltl served { <> (q == 7) }
ltl stays { <> [] (n == 0) }
