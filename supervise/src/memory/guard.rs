//! What happens when the system gives no more memory: the work is asked to stop, and may use a reserve to say what it
//! knows; if that does not suffice either, somebody else says it, and the program ends.
//!
//! The standard library ends a program at the first allocation that fails, which would lose everything that a long
//! search found out. So this allocator, at the first failure, gives back memory that was set aside, asks the guardian
//! thread to stop the work, and tries again. At a failure after that, the thread that allocates sleeps for ever, and the
//! guardian, for which a second and smaller reserve is given back, has the last word.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// The reserve for the work to end in good order is this share of the memory available, …
const WORK_RESERVE_SHARE: u64 = 8;
/// … and at most so much. It is address space only: nobody writes to it.
const WORK_RESERVE_BYTES_MAX: u64 = 256 << 20;
/// The reserve for the last word.
const LAST_RESERVE_BYTES: usize = 8 << 20;
const ALIGNMENT: usize = 4096;
/// The exit code if nobody says what is known: nothing is.
const EXIT_UNDECIDED: u8 = 2;

/// The allocator of this program.
pub struct Guarded;

/// Memory that is set aside.
struct Reserve {
    first: AtomicPtr<u8>,
    bytes: AtomicUsize,
}

static FOR_WORK: Reserve = Reserve::none();
static FOR_LAST_WORD: Reserve = Reserve::none();
/// An allocation failed: the work should stop.
static SHORT: AtomicBool = AtomicBool::new(false);
/// An allocation failed again: nothing can go on.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);
/// Somebody wants to be told.
static GUARDED: AtomicBool = AtomicBool::new(false);
/// Who waits for either.
static GUARDIAN: OnceLock<Thread> = OnceLock::new();
/// What the guardian does.
static DUTIES: Mutex<Option<Duties>> = Mutex::new(None);

thread_local! {
    /// This is the guardian: its own allocations that fail end the program.
    static IS_GUARDIAN: Cell<bool> = const { Cell::new(false) };
    /// This thread begins the guardian once it waits for work; until then nobody would wake it if it slept.
    static IS_GUARDIAN_TO_BE: Cell<bool> = const { Cell::new(false) };
}

/// What is to be done when memory is short.
pub struct Duties {
    /// Asks the work to stop.
    pub stop: Box<dyn Fn() + Send>,
    /// Whether the work that was asked to stop has ended, and more may begin.
    pub over: Box<dyn Fn() -> bool + Send>,
    /// Says what is known; returns the exit code.
    pub last_word: Box<dyn Fn() -> u8 + Send>,
}

impl Reserve {
    const fn none() -> Self {
        Self { first: AtomicPtr::new(ptr::null_mut()), bytes: AtomicUsize::new(0) }
    }

    /// Sets memory aside, unless there is some.
    fn fill(&self, bytes: usize) {
        if bytes == 0 || !self.first.load(Ordering::Acquire).is_null() {
            return;
        }
        let Ok(layout) = Layout::from_size_align(bytes, ALIGNMENT) else { return };
        self.bytes.store(bytes, Ordering::Release);
        // SAFETY: the layout has a size.
        self.first.store(unsafe { System.alloc(layout) }, Ordering::Release);
    }

    /// Sets memory aside again, as much as before.
    fn refill(&self) {
        self.fill(self.bytes.load(Ordering::Acquire));
    }

    /// Gives the memory back to the system; whether there was any.
    fn give_back(&self) -> bool {
        let first = self.first.swap(ptr::null_mut(), Ordering::AcqRel);
        let Ok(layout) = Layout::from_size_align(self.bytes.load(Ordering::Acquire), ALIGNMENT) else { return false };
        if first.is_null() {
            return false;
        }
        // SAFETY: `fill` allocated it with this layout, and the swap made this thread the only one that knows of it.
        unsafe { System.dealloc(first, layout) };
        true
    }
}

/// Sets memory aside and says who is to be told when it is needed. Called before each piece of work, by one thread. The guardian who
/// tells them begins [by itself](start_guardian) once somebody [waits](crate::run) for work: a short piece of work does without.
pub fn guard(available_bytes: u64, duties: Duties) {
    *DUTIES.lock().unwrap_or_else(PoisonError::into_inner) = Some(duties);
    IS_GUARDIAN_TO_BE.set(true);
    GUARDED.store(true, Ordering::Release);
    SHORT.store(false, Ordering::Release);
    FOR_LAST_WORD.fill(LAST_RESERVE_BYTES);
    let bytes = (available_bytes / WORK_RESERVE_SHARE).min(WORK_RESERVE_BYTES_MAX);
    FOR_WORK.fill(usize::try_from(bytes).unwrap_or(0));
}

/// Begins to wait for memory to be short, unless somebody does already, or nobody wants to know.
pub fn start_guardian() {
    let duties = DUTIES.lock().unwrap_or_else(PoisonError::into_inner);
    if duties.is_none() || GUARDIAN.get().is_some() {
        return;
    }
    match thread::Builder::new().spawn(keep_guard) {
        Ok(guardian) => {
            let _ = GUARDIAN.set(guardian.thread().clone());
            // Whoever ran out of memory before this knew of nobody to wake.
            guardian.thread().unpark();
        }
        Err(_) if EXHAUSTED.load(Ordering::Acquire) => say_last_word(duties.as_ref()),
        Err(_) => {}
    }
}

/// Ends the program, since nothing can go on.
fn say_last_word(duties: Option<&Duties>) -> ! {
    let code = duties.map_or(EXIT_UNDECIDED, |duties| (duties.last_word)());
    std::process::exit(i32::from(code));
}

/// Waits until memory is short, and then until there is none.
fn keep_guard() {
    IS_GUARDIAN.set(true);
    let mut stopped = false;
    loop {
        let short = SHORT.load(Ordering::Acquire);
        if EXHAUSTED.load(Ordering::Acquire) {
            say_last_word(DUTIES.lock().unwrap_or_else(PoisonError::into_inner).as_ref());
        }
        if short
            && !stopped
            && let Some(duties) = DUTIES.lock().unwrap_or_else(PoisonError::into_inner).as_ref()
        {
            (duties.stop)();
        }
        if short
            && stopped
            && let Some(duties) = DUTIES.lock().unwrap_or_else(PoisonError::into_inner).as_ref()
            && (duties.over)()
        {
            FOR_LAST_WORD.refill();
            FOR_WORK.refill();
            SHORT.store(false, Ordering::Release);
        }
        stopped = short;
        // A piece of work that begins sets `SHORT` to false without waking anybody.
        if short { thread::park_timeout(Duration::from_millis(10)) } else { thread::park() }
    }
}

/// Tries an allocation that failed again, with the memory that was set aside.
#[cold]
fn again(allocate: &dyn Fn() -> *mut u8) -> *mut u8 {
    if !GUARDED.load(Ordering::Acquire) {
        return ptr::null_mut();
    }
    SHORT.store(true, Ordering::Release);
    let wake_guardian = || GUARDIAN.get().into_iter().for_each(Thread::unpark);
    wake_guardian();
    if FOR_WORK.give_back() {
        let memory = allocate();
        if !memory.is_null() {
            return memory;
        }
    }
    if IS_GUARDIAN.get() || GUARDIAN.get().is_none() && IS_GUARDIAN_TO_BE.get() {
        return if FOR_LAST_WORD.give_back() { allocate() } else { ptr::null_mut() };
    }
    FOR_LAST_WORD.give_back();
    EXHAUSTED.store(true, Ordering::Release);
    wake_guardian();
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

// SAFETY: all memory is the system allocator's; what fails there is asked of it again with the same layout. Nothing
// here allocates or unwinds: the guardian's handle, the flags and the reserves are there before.
unsafe impl GlobalAlloc for Guarded {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let allocate = || unsafe { System.alloc(layout) };
        let memory = allocate();
        if memory.is_null() { again(&allocate) } else { memory }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let allocate = || unsafe { System.alloc_zeroed(layout) };
        let memory = allocate();
        if memory.is_null() { again(&allocate) } else { memory }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: promised by the caller; a call that fails leaves the old memory as it was.
        let allocate = || unsafe { System.realloc(old, layout, bytes) };
        let memory = allocate();
        if memory.is_null() { again(&allocate) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}
