// The messages of `fabius lsp` that are its own; docs/protocol.md describes them.

export interface Position {
  line: number;
  character: number;
}

export interface Range {
  start: Position;
  end: Position;
}

export type State = "unknown" | "running" | "stale" | "holds" | "violated" | "undecided" | "faulty";
export type Verdict = "holds" | "violated" | "undecided" | "faulty";

export interface PropertyStatus {
  name: string;
  kind: string | null;
  state: State;
  verdict: Verdict | null;
  /** The verdict rests on every reachable state of the present text. */
  exhaustive: boolean;
  stale: boolean;
  /** Whether a scheduler can avoid every error; null if that is not known. */
  avoidable?: boolean | null;
  /** Which infinite runs count. */
  fairness?: "none" | "weak" | "strong";
  summary: string | null;
  states: number | null;
  /** The number of delays up to which a search found nothing. */
  bound?: number | null;
  counterexamples: number;
  /** What became of the first counterexample in the present text. */
  replay: string | null;
  /** The verdict that the project or the model says is right. */
  expected?: Verdict | null;
  /** Where it stands. */
  range?: Range | null;
}

export interface Progress {
  states: number;
  depth: number;
  seconds: number;
}

export interface Running {
  property: string;
  tier: "quick" | "delay-deepening" | "deep" | "extended";
  /** The number of delays up to which it found nothing so far. */
  bound?: number | null;
  progress: Progress | null;
}

/** `fabius/status`: all that is known about a model. */
export interface Status {
  uri: string;
  version: number;
  /** A later one has a greater number. */
  serial: number;
  running: Running | null;
  /** Why the model cannot be checked as it is; the properties are those from before then. */
  faulty?: { message: string; errors: number; line: number | null } | null;
  properties: PropertyStatus[];
  /** The reachable states were looked at for coverage: their number, and whether these are all. */
  survey?: { states: number; exhaustive: boolean } | null;
  /** They are being looked at. */
  surveying?: boolean;
}

export type Mark =
  | { kind: "step" | "loop" | "fails"; step: number; property: string; counterexample: number; stale: boolean }
  | { kind: "stuck"; process: string; why: string | null; stale: boolean }
  | { kind: "unreached"; why: string | null };

/** A statement, and whether some run executes it. */
export interface Covered {
  range: Range;
  executed: boolean;
  process: string;
}

/** `fabius/lines`: what is known about each line. */
export interface Lines {
  uri: string;
  version: number;
  lines: { line: number; marks: Mark[] }[];
  coverage?: { states: number; exhaustive: boolean; statements: Covered[] } | null;
}

export interface Change {
  name: string;
  old: string;
  new: string;
  what: "variable" | "channel" | "priority";
}

export interface Message {
  direction: "sent" | "received";
  pid: number;
  channel: string;
  fields: string;
}

export interface Actor {
  process: string;
  pid: number;
  file: string;
  line: number;
  column: number;
  text: string;
}

/** The number that a claim has as a process. */
export const CLAIM_PID = 255;

/** A step of a counterexample, as in docs/schema/report.schema.json. */
export interface Step extends Actor {
  step: number;
  changes: Change[];
  partner?: Actor;
  messages?: Message[];
  printed?: string;
  created?: number[];
  ended?: boolean;
  atomic?: boolean;
  d_step?: boolean;
  timeout?: boolean;
  held_back?: { pid: number }[];
  /** What surprises people about it. */
  notes?: { kind: string; text: string; line?: number }[];
  /** What the claim did before it; `folded` puts it there. */
  claim?: string[];
  fault?: string;
  uri?: string | null;
  range?: Range;
}

export interface Standing {
  process: string;
  pid: number;
  end: boolean;
  line: number;
  waiting: { text: string; line: number; executable?: boolean; reason: string }[];
}

/** `fabius/trace`: a page of a counterexample. */
export interface TracePage {
  property: string;
  counterexample: number;
  kind: string;
  message: string;
  stale: boolean;
  steps: number;
  loopStart: number | null;
  from: number;
  page: Step[];
  blocked: Standing[];
  explanation: string[];
  advice: string | null;
}

export interface Named {
  name: string;
  value: string;
}

/** What `textDocument/diagnostic` tells of a text. */
export interface TextFault {
  severity?: number;
  message: string;
  range: Range;
}

/** `fabius/step`: the state after a step. */
export interface StateAfter {
  step: number;
  variables: Named[];
  channels: Named[];
  processes: {
    pid: number;
    name: string;
    end: boolean;
    statements: { statement: string; why: string }[];
    variables: Named[];
    uri: string | null;
    range: Range;
  }[];
}

/** `fabius/executions`: how many executions a model has; numbers are decimal digits. */
export interface Counted {
  uri: string;
  /** The text means something else by now. */
  stale: boolean;
  executions: string | null;
  exhaustive: boolean;
  sentence: string;
  /** What to do where not all could be counted. */
  advice: string | null;
}

/** A branch of the tree of choices: executions with neighbouring numbers. */
export interface Branch {
  first: string;
  executions: string;
  failing: string;
  stuck: string;
  ok: string;
  /** How its execution ends, if there is only one. */
  ends?: "well" | "stuck" | "failed" | "waiting" | "cut";
  unopened: boolean;
  /** The number of its steps, of which the first is told. */
  length: number;
  step: Step | null;
  sentence: string;
}

/** `fabius/executionTree`: a branch, and the alternatives at its end. */
export interface Opened {
  stale: boolean;
  branch: Branch;
  alternatives: Branch[];
}

/** `fabius/stuck` and `fabius/contexts`. */
export interface Asked {
  sentence: string;
  /** The run that shows it. */
  run?: string;
  /** A model that shows it. */
  model?: string | null;
}

/** Which counterexample is meant, or which run that an answer named. */
export interface Which {
  uri: string;
  run?: string | undefined;
  property?: string | undefined;
  counterexample?: number | undefined;
}
