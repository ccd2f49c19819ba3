//! Colours and signs. Whatever a colour says, a sign says, too.

use ratatui::style::{Color, Modifier, Style};

/// How the screen is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Theme {
    /// Colours may be used.
    pub colour: bool,
    /// The background is light.
    pub light: bool,
    /// No signs but those of ASCII.
    pub ascii: bool,
}

impl Default for Theme {
    fn default() -> Self {
        Self { colour: true, light: false, ascii: false }
    }
}

/// A sign.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    /// Can move; runs.
    Go,
    /// Cannot move.
    Stuck,
    /// Held back; paused.
    Held,
    /// A loop; at work.
    Loop,
    /// Good; ended as it should.
    Good,
    /// Bad.
    Bad,
    /// Not decided.
    Open,
    /// One is here.
    Here,
    /// A step.
    Step,
    /// To the right, to the left.
    Right,
    /// To the left.
    Left,
    /// A line across.
    Across,
    /// A line down.
    Down,
    /// Was something, is something else.
    Becomes,
    /// There is more.
    More,
    /// A bookmark.
    Bookmark,
    /// Between two things.
    Dot,
    /// A choice that branches off.
    Branch,
    /// The last of them.
    BranchEnd,
}

impl Theme {
    /// The text of a sign.
    pub fn sign(self, sign: Sign) -> &'static str {
        let (fine, plain) = match sign {
            Sign::Go => ("▶", ">"),
            Sign::Stuck => ("■", "#"),
            Sign::Held => ("⏸", "="),
            Sign::Loop => ("⟳", "@"),
            Sign::Good => ("✓", "+"),
            Sign::Bad => ("✗", "x"),
            Sign::Open => ("○", "o"),
            Sign::Here => ("▸", ">"),
            Sign::Step => ("●", "*"),
            Sign::Right => ("▶", ">"),
            Sign::Left => ("◀", "<"),
            Sign::Across => ("─", "-"),
            Sign::Down => ("│", "|"),
            Sign::Becomes => ("→", "->"),
            Sign::More => ("…", "~"),
            Sign::Bookmark => ("◆", "^"),
            Sign::Dot => ("·", "-"),
            Sign::Branch => ("├", "|"),
            Sign::BranchEnd => ("└", "`"),
        };
        if self.ascii { plain } else { fine }
    }

    /// How much of something there is, from 0 to 8 parts of 8.
    pub fn eighths(self, parts: usize) -> &'static str {
        const FINE: [&str; 9] = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"];
        const PLAIN: [&str; 9] = [" ", " ", ".", ".", ":", ":", "=", "=", "#"];
        if self.ascii { PLAIN[parts.min(8)] } else { FINE[parts.min(8)] }
    }

    /// A height, from 0 to 8 parts of 8.
    pub fn height(self, parts: usize) -> &'static str {
        const FINE: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
        const PLAIN: [&str; 9] = [" ", "_", "_", ".", ".", "-", "-", "=", "#"];
        if self.ascii { PLAIN[parts.min(8)] } else { FINE[parts.min(8)] }
    }

    /// How hot something is, from 0 to 4.
    pub fn heat(self, level: usize) -> &'static str {
        const FINE: [&str; 5] = [" ", "░", "▒", "▓", "█"];
        const PLAIN: [&str; 5] = [" ", ".", ":", "*", "#"];
        if self.ascii { PLAIN[level.min(4)] } else { FINE[level.min(4)] }
    }

    fn with(self, dark: Color, light: Color) -> Style {
        match (self.colour, self.light) {
            (false, _) => Style::new(),
            (true, false) => Style::new().fg(dark),
            (true, true) => Style::new().fg(light),
        }
    }

    /// What stands back.
    pub fn quiet(self) -> Style {
        if self.colour { self.with(Color::DarkGray, Color::DarkGray) } else { Style::new().add_modifier(Modifier::DIM) }
    }

    /// What can move, what is new.
    pub fn good(self) -> Style {
        self.with(Color::Green, Color::Blue)
    }

    /// What goes wrong.
    pub fn bad(self) -> Style {
        self.with(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What changed.
    pub fn changed(self) -> Style {
        self.with(Color::Yellow, Color::Magenta).add_modifier(Modifier::BOLD)
    }

    /// What is held back.
    pub fn held(self) -> Style {
        self.with(Color::Magenta, Color::Magenta)
    }

    /// What is to be noticed: the panel that keys go to, the key itself.
    pub fn accent(self) -> Style {
        self.with(Color::Cyan, Color::Blue)
    }

    /// The line that the cursor is on.
    pub fn cursor(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A heading.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// A process, by its number.
    pub fn process(self, pid: u8) -> Style {
        const DARK: [Color; 6] = [
            Color::LightCyan,
            Color::LightYellow,
            Color::LightMagenta,
            Color::LightGreen,
            Color::LightBlue,
            Color::White,
        ];
        // Of the sixteen colours no others can be read on white in every palette.
        const LIGHT: [Color; 4] = [Color::Blue, Color::Magenta, Color::Red, Color::Black];
        let pid = usize::from(pid);
        self.with(DARK[pid % DARK.len()], LIGHT[pid % LIGHT.len()])
    }
}
