//! Words and what holds of them, by definition: an oracle for automata of formulas.

use fabius_program::ltl::{Automaton, Cube, State, Transition};
use fabius_program::{Action, BinaryOp, Expr, Formula, Location, Place, ProcessId, Program, Slot, UnaryOp, VariableId};

/// A word `u v^ω`: letters, and where it goes on after the last one.
pub struct Lasso {
    pub letters: Vec<u64>,
    pub back_to: usize,
}

impl Lasso {
    pub fn next(&self, at: usize) -> usize {
        if at + 1 == self.letters.len() { self.back_to } else { at + 1 }
    }

    /// Every word over this many propositions with |u| + |v| letters.
    pub fn all(propositions: u32, length: u32) -> impl Iterator<Item = Self> {
        let letter = move |word: u64, at: u32| word >> (at * propositions) & ((1 << propositions) - 1);
        (0..1_u64 << (propositions * length)).flat_map(move |word| {
            let letters: Vec<u64> = (0..length).map(|at| letter(word, at)).collect();
            (0..length as usize).map(move |back_to| Self { letters: letters.clone(), back_to })
        })
    }
}

pub fn proposition(index: u32) -> Formula {
    Formula::Proposition(Expr::Load(Place { slot: Slot::Global(VariableId(index)), indices: Vec::new() }))
}

/// What an expression over one state is for a letter.
pub type Value<'a> = &'a dyn Fn(&Expr, u64) -> bool;

/// The value of `Load`s of globals, whose number is that of their bit in the letter.
pub fn of_globals(e: &Expr, letter: u64) -> bool {
    match e {
        Expr::Load(Place { slot: Slot::Global(id), .. }) => letter >> id.0 & 1 == 1,
        _ => e.constant() != Some(0),
    }
}

/// At which positions of a word a formula holds.
pub fn holds(formula: &Formula, word: &Lasso, value: Value<'_>) -> Vec<bool> {
    let n = word.letters.len();
    let one = |a: &Formula| holds(a, word, value);
    let two = |a: &Formula, b: &Formula, f: fn(bool, bool) -> bool| {
        let (a, b) = (one(a), one(b));
        (0..n).map(|i| f(a[i], b[i])).collect()
    };
    // Fixed points of x = now(i) || stay(i) && next x, from below or above.
    let fixed = |now: &dyn Fn(usize) -> bool, stay: &dyn Fn(usize) -> bool, first: bool| {
        let mut x = vec![first; n];
        for _ in 0..=n {
            for i in (0..n).rev() {
                x[i] = now(i) || stay(i) && x[word.next(i)];
            }
        }
        x
    };
    match formula {
        Formula::Proposition(e) => word.letters.iter().map(|letter| value(e, *letter)).collect(),
        Formula::Not(a) => one(a).into_iter().map(|x| !x).collect(),
        Formula::And(a, b) => two(a, b, |a, b| a && b),
        Formula::Or(a, b) => two(a, b, |a, b| a || b),
        Formula::Implies(a, b) => two(a, b, |a, b| !a || b),
        Formula::Equivalent(a, b) => two(a, b, |a, b| a == b),
        Formula::Next(a) => {
            let a = one(a);
            (0..n).map(|i| a[word.next(i)]).collect()
        }
        Formula::Eventually(a) => {
            let a = one(a);
            fixed(&|i| a[i], &|_| true, false)
        }
        Formula::Always(a) => {
            let a = one(a);
            fixed(&|_| false, &|i| a[i], true)
        }
        Formula::Until(a, b) => {
            let (a, b) = (one(a), one(b));
            fixed(&|i| b[i], &|i| a[i], false)
        }
        Formula::WeakUntil(a, b) => {
            let (a, b) = (one(a), one(b));
            fixed(&|i| b[i], &|i| a[i], true)
        }
        Formula::Release(a, b) => {
            let (a, b) = (one(a), one(b));
            fixed(&|i| a[i] && b[i], &|i| b[i], true)
        }
    }
}

/// Whether an automaton accepts a word: a cycle of the product with an accepting state is reached.
pub fn accepts(automaton: &Automaton, word: &Lasso) -> bool {
    let n = word.letters.len();
    let successors = |(state, at): (usize, usize)| {
        let fits = automaton.states[state].transitions.iter().filter(move |t| t.admits(word.letters[at]));
        fits.map(move |t| (t.target, word.next(at)))
    };
    let reached = |start: (usize, usize)| {
        let mut seen = vec![false; automaton.states.len() * n];
        let mut pending: Vec<(usize, usize)> = successors(start).collect();
        while let Some((state, at)) = pending.pop() {
            if !std::mem::replace(&mut seen[state * n + at], true) {
                pending.extend(successors((state, at)));
            }
        }
        seen
    };
    let first = reached((0, 0));
    let is_reached = |state: usize, at: usize| (state, at) == (0, 0) || first[state * n + at];
    (0..automaton.states.len())
        .filter(|s| automaton.states[*s].accepting)
        .any(|state| (0..n).any(|at| is_reached(state, at) && reached((state, at))[state * n + at]))
}

/// Numbers that look random.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    pub fn formula(&mut self, operators: u64, propositions: u32) -> Formula {
        if operators == 0 {
            return match self.below(20) {
                0 => Formula::Proposition(Expr::Constant(self.below(2) as i32)),
                _ => proposition(self.below(u64::from(propositions)) as u32),
            };
        }
        let choice = self.below(13);
        if choice < 5 {
            let a = Box::new(self.formula(operators - 1, propositions));
            return match choice {
                0 => Formula::Not(a),
                1 => Formula::Next(a),
                2 => Formula::Always(a),
                _ => Formula::Eventually(a),
            };
        }
        let left = self.below(operators);
        let a = Box::new(self.formula(left, propositions));
        let b = Box::new(self.formula(operators - 1 - left, propositions));
        match choice {
            5 | 6 => Formula::And(a, b),
            7 => Formula::Or(a, b),
            8 => Formula::Implies(a, b),
            9 => Formula::Equivalent(a, b),
            10 => Formula::Until(a, b),
            11 => Formula::WeakUntil(a, b),
            _ => Formula::Release(a, b),
        }
    }
}

/// The value of a condition over propositions; `None` if there are others in it.
pub fn value(e: &Expr, atoms: &[Expr], letter: u64) -> Option<bool> {
    let inner = |e: &Expr| value(e, atoms, letter);
    let opposite = |op, a: &Expr, b: &Expr| inner(&Expr::binary(op, a.clone(), b.clone())).map(|x| !x);
    if let Some(at) = atoms.iter().position(|atom| atom == e) {
        return Some(letter >> at & 1 == 1);
    }
    match e {
        Expr::Constant(value) => Some(*value != 0),
        Expr::Unary(UnaryOp::Not, a) => inner(a).map(|x| !x),
        Expr::Binary(BinaryOp::And, a, b) => Some(inner(a)? && inner(b)?),
        Expr::Binary(BinaryOp::Or, a, b) => Some(inner(a)? || inner(b)?),
        Expr::Binary(BinaryOp::Equal, a, b) if [a, b].iter().all(|e| matches!(***e, Expr::Unary(UnaryOp::Not, _))) => {
            Some(inner(a)? == inner(b)?)
        }
        Expr::Binary(BinaryOp::NotEqual, a, b) => opposite(BinaryOp::Equal, a, b),
        Expr::Binary(BinaryOp::LessEqual, a, b) => opposite(BinaryOp::Greater, a, b),
        Expr::Binary(BinaryOp::GreaterEqual, a, b) => opposite(BinaryOp::Less, a, b),
        _ => None,
    }
}

/// A claim as an automaton over propositions. A finite run violates it at the closing brace, or by an assertion.
pub fn automaton_of_claim(program: &Program, id: ProcessId, atoms: &[Expr]) -> Option<Automaton> {
    let process = program.process(id);
    let letters = 0..1_u64 << atoms.len();
    let exactly = |letter: u64| Cube { positive: letter, negative: !letter & (letters.end - 1) };
    let state = |(at, location): (usize, &Location)| {
        let over = |action: &Action| matches!(action, Action::End | Action::Assert(_));
        let edges = program.edges_of(location);
        let edges: Vec<_> = edges.map(|(name, edge)| (&program.statement(id, name).action, edge)).collect();
        if location.edges.is_empty() && location.end || edges.iter().any(|(action, _)| over(action)) {
            let all = Transition { guard: vec![Cube::default()], target: at };
            return Some(State { accepting: true, transitions: vec![all] });
        }
        let mut transitions = Vec::new();
        for (action, edge) in edges {
            let mut guard = Vec::new();
            for letter in letters.clone() {
                let fits = match action {
                    Action::Skip => true,
                    Action::Guard(e) => value(e, atoms, letter)?,
                    _ => return None,
                };
                guard.extend(fits.then(|| exactly(letter)));
            }
            transitions.push(Transition { guard, target: edge.target.0 as usize });
        }
        Some(State { accepting: location.accept, transitions })
    };
    let mut states = process.locations.iter().enumerate().map(state).collect::<Option<Vec<_>>>()?;
    // A run begins in the first state.
    let entry = process.entry.0 as usize;
    let swapped = |at: usize| match at {
        0 => entry,
        _ if at == entry => 0,
        _ => at,
    };
    states.swap(0, entry);
    states.iter_mut().flat_map(|s| &mut s.transitions).for_each(|t| t.target = swapped(t.target));
    Some(Automaton { propositions: atoms.to_vec(), states })
}
