//! The colours of a state, in the byte that the visited set keeps with it.

/// What is kept with each state: its colour, whether it is red, whether it was expanded in full although
/// the model left something out, whether it was first reached by an accepting transition, and how many of these the stack had when it
/// became cyan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mark(u8);

/// How far the blue search is with a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Colour {
    White,
    Cyan,
    Blue,
}

impl Mark {
    const CYAN: u8 = 1;
    const BLUE: u8 = 2;
    const RED: u8 = 4;
    const FULL: u8 = 8;
    const ACCEPTING: u8 = 16;
    const COUNT_SHIFT: u32 = 5;
    pub(super) const COUNT_MAX: u8 = 7;

    pub(super) fn colour(self) -> Colour {
        match self.0 & 3 {
            0 => Colour::White,
            Self::CYAN => Colour::Cyan,
            _ => Colour::Blue,
        }
    }

    /// It is on the stack of the blue search.
    pub(crate) fn is_cyan(self) -> bool {
        self.colour() == Colour::Cyan
    }

    pub(crate) fn is_red(self) -> bool {
        self.0 & Self::RED != 0
    }

    pub(super) fn is_full(self) -> bool {
        self.0 & Self::FULL != 0
    }

    /// It was first reached by an accepting transition.
    pub(crate) fn is_accepting(self) -> bool {
        self.0 & Self::ACCEPTING != 0
    }

    pub(super) fn count(self) -> u8 {
        self.0 >> Self::COUNT_SHIFT
    }

    pub(super) fn enter(&mut self, count: u8, accepting: bool) {
        let accepting = if accepting { Self::ACCEPTING } else { 0 };
        self.0 = (self.0 & (Self::RED | Self::FULL)) | Self::CYAN | accepting | (count << Self::COUNT_SHIFT);
    }

    pub(super) fn leave(&mut self, red: bool, full: bool) {
        self.0 = (self.0 & !3) | Self::BLUE;
        if red {
            self.0 |= Self::RED;
        }
        if full {
            self.0 |= Self::FULL;
        }
    }

    pub(super) fn redden(&mut self) {
        self.0 |= Self::RED;
    }
}
