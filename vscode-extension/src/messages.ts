// Generated from the types in lsp/src/server/messages; do not edit. After a change of those:
// FABIUS_GENERATE=1 cargo test -p fabius-lsp typescript

/** A position in a text, as in the Language Server Protocol. */
export type Position = { line: number; character: number };

/** A range in a text, as in the Language Server Protocol. */
export type Range = { start: Position; end: Position };

/** The number that a claim has as a process. */
export const CLAIM_PID = 255;

/** A process and its statement. */
export type ActorRecord = {
  /** Type of the process. */
  process: string,
  /** Its number. */
  pid: number,
  /** The file that holds the statement. */
  file: string,
  /** Its line, from 1. */
  line: number,
  /** Its column in characters, from 1. */
  column: number,
  /** The statement. */
  text: string,
};

/** What an expression decides in a drawing. */
export type Binding = {
  /** The number of the element, from 0. */
  element: number,
  /** `text` (of the element), `value` (its attribute `data-value`), `shown`, or the name of an attribute of SVG. */
  attribute: string,
  /** The expression, as the drawing writes it. */
  expression: string,
  /** Its values along the run, each from a step on. */
  values: Array<ValueFrom>,
};

/** A branch of the tree of choices: executions with neighbouring numbers, which are in decimal digits. */
export type Branch = {
  /** The number of its first execution, from 1. */
  first: string,
  /** The number of its executions. */
  executions: string,
  /** Those that fail. */
  failing: string,
  /** Those that get stuck. */
  stuck: string,
  /** Those that end well. */
  ok: string,
  /** How its execution ends, if there is only one: `well`, `stuck`, `failed`, `waiting` or `cut`. */
  ends?: string,
  /** There is more behind it than is listed. */
  unopened: boolean,
  /** The number of its steps. */
  length: number,
  /** The first of its steps, which distinguishes it from its alternatives. */
  step: PlacedStep | null,
  /** What is behind it, in words. */
  sentence: string,
};

/** A branch, as plain data. */
export type BranchReport = {
  /** The number in the list, from 0, of the branch at whose end this one is an alternative. */
  parent: number | null,
  /** The number among all executions, from 1, of the first of its executions; of a single one of the kind, its own. */
  first: string,
  /** The executions that take its steps. */
  executions: string,
  /** Those that fail. */
  failing: string,
  /** Those that get stuck. */
  stuck: string,
  /** Those that end well. */
  ok: string,
  /** How its execution ends, if there is only one of the kind. */
  ends?: string | null,
  /** There is more behind it than is listed. */
  unopened: boolean,
  /** How many steps it has. */
  length: number,
  /** Its steps, the first thousand of them. */
  steps: Array<StepRecord>,
};

/** A minimal set of statements with which a property can be violated. */
export type CauseFound = {
  /** What goes wrong in its run, and where. */
  sentence: string,
  /** Whether each statement is known to be needed. */
  minimal: boolean,
  /** The name of its run. */
  run: string,
  /** Its statements, in the order of the text. */
  statements: Array<CauseStatement>,
};

/** A statement of a cause. */
export type CauseStatement = {
  /** The line, from 1. */
  line: number,
  /** The process type that executes it. */
  process: string,
  /** Its text. */
  statement: string,
  /** Whether all causes have it. */
  shared: boolean,
};

/** The causes of the violations of a property. */
export type CausesFound = {
  /** How many there are, in words. */
  sentence: string,
  /** Whether these are all. */
  complete: boolean,
  /** The text was edited since somebody asked. */
  stale: boolean,
  /** The causes: those with the fewest statements first. */
  causes: Array<CauseFound>,
};

/** Parameters of `fabius/causes`. */
export type CausesParams = {
  /** The address of the model. */
  uri: string,
  /** The name of the property. */
  property: string,
};

/** A value, and whether the value of the formula in the initial state follows from it. */
export type Cell = "true" | "false" | "undetermined" | "false-decisive" | "true-decisive";

/** A change. */
export type ChangeRecord = {
  /** Variable or channel, with index and process. */
  name: string,
  /** Value before. */
  old: string,
  /** Value after. */
  new: string,
  /** `variable`, `channel` or `priority`. */
  what: string,
};

/** Positions one after the other at which all parts have the same values. */
export type Column = {
  /** The first one: the state after this number of steps. */
  first: number,
  /** The last one. */
  last: number,
  /** They are in the loop. */
  inLoop: boolean,
};

/** Parameters of `fabius/compareRuns`. */
export type CompareParams = {
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a run before the last save if it is left out. */
  property?: string,
};

/** A step that both runs take, or one of them. */
export type ComparedStep = {
  /** The step of the first run; absent if only the second one takes it. */
  first?: StepRecord | null,
  /** The step of the second run; absent if only the first one takes it. */
  second?: StepRecord | null,
  /** Both take it, with the same effect. */
  same: boolean,
};

/** In what two executions differ. */
export type Comparison = {
  /** Their numbers, from 1. */
  ranks: [string, string],
  /** Steps with which both begin. */
  alike: number,
  /** The step that each takes then. */
  then: [EventRecord | null, EventRecord | null],
  /** Steps that come in different orders, a pair for each variable or channel that they touch. */
  orders: Array<OrderRecord>,
  /** Variables and channels with different values in the end: name, and both values. */
  values: Array<[string, string, string]>,
};

/** What is known of a context. */
export type ContextReport = {
  /** What its `init` does. */
  statements: Array<string>,
  /** Whether anything goes wrong. */
  verdict: Verdict,
  /** What goes wrong, or what the verdict rests on. */
  reason: string,
  /** Where something goes wrong. */
  line?: number | null,
  /** Length of the run that shows it. */
  steps?: number | null,
};

/** The contexts in which a model goes wrong. */
export type Contexts = {
  /** How many go wrong, in words. */
  sentence: string,
  /** All contexts were checked that there are. */
  complete: boolean,
  /** The contexts. */
  contexts: Array<ContextReport>,
  /** The text of the model with the first one that goes wrong. */
  model: string | null,
};

/** Parameters of `fabius/contexts`. */
export type ContextsParams = {
  /** The address of the model. */
  uri: string,
  /** The process type. */
  process: string,
};

/** How many executions a model has, as in `docs/schema/executions.schema.json`. */
export type CountedExecutions = {
  /** The model. */
  uri: string | null,
  /** The present text means something else. */
  stale: boolean,
  /** The numbers in words. */
  sentence: string,
  /** What to do where not all could be counted. */
  advice: string | null,
  /** The tool's name. */
  tool: string,
  /** Its version. */
  version: string,
  /** The model. */
  file: string,
  /** Executions; absent if there are infinitely many. A lower bound if not exhaustive or if `overflow`. */
  executions: string | null,
  /** Those with a failed assertion or a runtime error. */
  failing: string | null,
  /** Those that end in a deadlock. */
  stuck: string | null,
  /** Those that end well, without a failing step. */
  ok: string | null,
  /** Those that end where processes only wait in a loop for ever. */
  waiting: string | null,
  /** Those that were cut off. */
  cut: string | null,
  /** Interleavings of which these executions are the classes, if they were counted. */
  interleavings: string | null,
  /** States in which executions end, if nothing was cut off. Where processes are told apart by `births`, those that were created
   * differ only in their type, their location and their variables here, and one that has ended is gone: two such states
   * are the same if one becomes the other by giving processes that were created other numbers and other parents. */
  outcomes: string | null,
  /** Whether everything was explored, so that the numbers are exact. */
  exhaustive: boolean,
  /** Whether the numbers are too large to be exact. */
  overflow: boolean,
  /** Why not everything was explored. */
  reason?: string | null,
  /** What is counted once: `order` if executions that differ in the order of independent steps are; `order-and-numbers` if
   * also the numbers of processes, and when one ends that has nothing left to do, make no difference, nor, in
   * final states, who created whom; else `nothing`. */
  modulo: string,
  /** How processes are told apart that are created after the start: by `births` or by `numbers`; absent if there are none. */
  processes?: string | null,
  /** Why by numbers, if nobody asked for that. */
  numbers_because?: string | null,
  /** Why every interleaving counts. */
  note?: string | null,
  /** After how many steps executions are cut off. */
  within?: number | null,
  /** How often each process may take a step that may close one of its loops. */
  laps?: number | null,
  /** How they were counted: `graph`, `sleep`, `source` or `optimal`. */
  by: string,
  /** Which steps are independent: `accords`, `footprints` or `learned`. */
  independence: string,
  /** Why independence was not learnt, if that was asked for: then it is `accords`. */
  not_learnt?: string | null,
  /** What was learnt, if that was asked for. */
  order?: OrderReport | null,
  /** Runs that were given up because what they could go on with was explored before; absent with `graph`. */
  redundant_runs?: number | null,
  /** Pairs of a state and a sleep set that were explored; without a table, beginnings of runs. */
  nodes: number,
  /** How long counting took. */
  seconds: number,
  /** Memory that counting took. */
  memory_bytes: number,
  /** An infinite execution. */
  cycle?: CycleReport | null,
  /** Somebody asked to stop: fewer executions may be listed than were asked for. */
  list_stopped: boolean,
  /** The executions that were asked for. */
  list: Array<ExecutionReport>,
  /** The tree of choices, if it was asked for; a branch comes after its parent. */
  tree?: Array<BranchReport> | null,
  /** In what two executions differ. */
  comparison?: Comparison | null,
  /** What distinguishes those that fail, and those that get stuck, from those that end well. */
  difference?: Array<Difference>,
  /** Fabius itself is wrong: what happened. */
  internal_error?: string | null,
};

/** Which statements some run executes. */
export type Coverage = {
  /** The number of states that were looked at. */
  states: number,
  /** The number of transitions that were listed. */
  transitions: number,
  /** Whether these are all. */
  exhaustive: boolean,
  /** The statements. */
  statements: Array<CoveredStatement>,
};

/** A statement. */
export type CoveredStatement = {
  /** Where it is. */
  range: Range,
  /** Whether some run executes it. */
  executed: boolean,
  /** In how many transitions it is executed. */
  transitions: number,
};

/** An infinite execution. */
export type CycleReport = {
  /** Its steps. */
  steps: Array<StepRecord>,
  /** The step, from 1, with which its cycle begins. */
  loop_start: number,
};

/** What distinguishes the executions of a kind from those that end well. */
export type Difference = {
  /** `failing` or `stuck`. */
  kind: string,
  /** How many of the kind were looked at. */
  looked_at: number,
  /** How many of those that end well were looked at. */
  ok_looked_at: number,
  /** Whether these are all. */
  all: boolean,
  /** True of all that were looked at, and of none that ends well: each of these alone. */
  each: Array<FactRecord>,
  /** If there is no such fact: facts that are true together, and not all of them in any that ends well. */
  together: Array<FactRecord>,
};

/** Parameters of `fabius/graph`. */
export type DrawParams = {
  /** The address of the model. */
  uri: string,
  /** By what states are put together: `locations`, or names of variables with commas between them; each for itself if it is left out. */
  by?: string,
  /** The automata of the processes instead. */
  automata: boolean,
};

/** A picture of a state graph, or of automata. */
export type Drawing = {
  /** The picture. Elements with an attribute `data-lines` stand for these lines of the model, from 1, with blanks between them. */
  svg: string,
  /** How many states there are, and why there may be more; empty for automata. */
  sentence: string,
};

/** A step, as a person reads it. */
export type EventRecord = {
  /** The process, such as `P[1]`. */
  process: string,
  /** Its number. */
  pid: number,
  /** The statement. */
  text: string,
  /** Its line, from 1. */
  line: number,
  /** How often the process took this step before. */
  before: number,
};

/** The first page of an execution. */
export type ExecutionPage = {
  /** The name by which more of the run can be asked for. */
  run: string,
  /** The property, or the name of the run. */
  property: string,
  /** The number of the counterexample, from 0. */
  counterexample: number,
  /** How the run ends, in a word. */
  kind: TraceKind,
  /** How the run ends, in a sentence. */
  message: string,
  /** The run is one of an earlier text. */
  stale: boolean,
  /** The number of steps of the run, those of a claim included. */
  steps: number,
  /** The number of the step with which the loop begins. */
  loopStart: number | null,
  /** The first step of the page, from 1. */
  from: number,
  /** The steps. */
  page: Array<PlacedStep>,
  /** The processes that are stuck at the end. */
  blocked: Array<ProcessStatusRecord>,
  /** What explains the run, a sentence each. */
  explanation: Array<string>,
  /** What to do. */
  advice: string | null,
  /** Where the formula or claim holds; of the first page only, if the run has one. */
  ribbon: Ribbon | null,
  /** How numbers change along the run; of the first page only, and of a run of at most 5 000 steps. */
  plots: Array<Plot>,
  /** The drawing beside the model, as it moves along the run; of the first page only, if there is one. */
  picture: MovingPicture | null,
  /** Why the drawing beside the model cannot be shown, if there is one that cannot. */
  pictureProblem: string | null,
};

/** Parameters of `fabius/execution`. */
export type ExecutionParams = {
  /** The address of the model. */
  uri: string,
  /** The number of the execution, from 1, in decimal digits. */
  number: string,
  /** The first step of the page, from 1. */
  from?: number,
  /** The number of steps of the page. */
  count?: number,
};

/** An execution. */
export type ExecutionReport = {
  /** Its number among all executions, from 1. */
  rank: string,
  /** How it ends: `well`, `stuck`, `failed` (with a runtime error), `waiting` or `cut`. */
  ends: string,
  /** Whether an assertion fails or a runtime error occurs in it. */
  failed: boolean,
  /** Its steps. */
  steps: Array<StepRecord>,
  /** Where processes are stuck in the end. */
  stuck?: Array<ProcessStatusRecord>,
};

/** A branch of the tree of choices, and the alternatives at its end. */
export type ExecutionTree = {
  /** The model. */
  uri: string | null,
  /** The present text means something else. */
  stale: boolean,
  /** The branch. */
  branch: Branch,
  /** The alternatives. */
  alternatives: Array<Branch>,
};

/** Parameters of `fabius/executionTree`. */
export type ExecutionTreeParams = {
  /** The address of the model. */
  uri: string,
  /** The number of the first execution behind the branch, from 1, in decimal digits; … */
  first?: string,
  /** … and how many there are. */
  executions?: string,
};

/** Parameters of `fabius/executions`. */
export type ExecutionsParams = {
  /** The address of the model. */
  uri: string,
  /** The number of times that each process may pass each of its loops. */
  laps?: number,
  /** The number of steps after which executions are cut off. */
  within?: number,
};

/** How a run is written for somebody else. */
export type ExportFormat = "text" | "mermaid" | "trail" | "run" | "itf";

/** Parameters of `fabius/export`. */
export type ExportParams = {
  /** How it is written. */
  format: ExportFormat,
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** A run as a text. */
export type Exported = {
  /** The text. */
  text: string,
};

/** Something that is true of an execution or not. */
export type FactRecord = {
  /** This step comes … */
  event: EventRecord,
  /** … before this one; if absent, it comes. */
  before?: EventRecord | null,
  /** What both touch. */
  touches?: string | null,
  /** The later step never comes. */
  never: boolean,
};

/** Which infinite runs count as violations. */
export type Fairness = "none" | "weak" | "strong";

/** A part of a condition that makes it false. */
export type FalsePart = {
  /** The part. */
  text: string,
  /** It is true, which under a negation makes the condition false. */
  holds: boolean,
  /** Whether it is true or false, and the values of which it is made, in a sentence. */
  sentence: string,
  /** The file in which it is written. */
  uri: string | null,
  /** Where it is written; `null` if that is not known. */
  range: Range | null,
};

/** Why a model cannot be checked. */
export type Faulty = {
  /** The first error, in one line. */
  message: string,
  /** The number of errors. */
  errors: number,
  /** The line of the first one in its file, from 0; `null` if the settings of the project are what is wrong. */
  line: number | null,
};

/** What became of a run in another version of its model. */
export type FollowedRun = "violates" | "does_not_violate" | "loop_stays_open" | "blocked" | "not_tried";

/** What became of a run in another version of its model, with its place and a sentence. */
export type FollowedRunRecord = {
  /** Whether it is the run of the old version, followed in the new one; else the other way round. */
  of_old: boolean,
  /** What became of it. */
  outcome: FollowedRun,
  /** Number of its steps that could be followed. */
  steps: number,
  /** Number of steps that it has. */
  of: number,
  /** Numbers of the steps that were left out, since their statements are not in the other version. */
  left_out?: Array<number>,
  /** Number of the first step that is not possible, is left out, or has another effect. */
  departs?: number | null,
  /** All of it, in sentences without their full stops. */
  sentences: Array<string>,
};

/** A process that was held back. */
export type HeldBackRecord = {
  /** Its number. */
  pid: number,
  /** The file in which it stands. */
  file: string,
  /** The line, from 1. */
  line: number,
  /** The column in characters, from 1. */
  column: number,
};

/** Columns that are left out. */
export type LeftOut = {
  /** They were before the column with this index. */
  before: number,
  /** How many they are. */
  count: number,
};

/** The marks of a line. */
export type LineMarks = {
  /** The line, from 0. */
  line: number,
  /** The marks. */
  marks: Array<Mark>,
};

/** What is known about the lines of a document. */
export type Lines = {
  /** The document. */
  uri: string,
  /** Its version. */
  version: number,
  /** The lines with marks. */
  lines: Array<LineMarks>,
  /** Which statements some run executes. */
  coverage: Coverage | null,
  /** Which statements nothing executed so far, where a search was not complete. */
  notExecuted: NotExecuted | null,
};

/** Lines of a model. */
export type LinesParams = {
  /** The address of the model or of a file that it includes, in which the lines are. */
  uri: string,
  /** The lines, from 0. */
  lines: Array<number>,
};

/** Something that is known about a line. */
export type Mark = { "kind": "step" } & StepMark | { "kind": "loop" } & StepMark | { "kind": "fails" } & StepMark | { "kind": "stuck",
/** The process, such as `P[1]`. */
process: string,
/** Why it cannot move. */
why: string | null,
/** The run is one of an earlier text. */
stale: boolean,
} | { "kind": "property",
/** The property. */
property: string,
/** It is one of the assertions that the property is about, not the formula or claim itself. */
assertion: boolean,
} | { "kind": "unreached",
/** Why not. */
why: string | null,
};

/** Where a pattern is true along a run. */
export type Matches = {
  /** The steps after which it is true, in their order; 0 is the state before all of them. */
  steps: Array<number>,
  /** In how many states that is, of those that were looked at. */
  sentence: string,
};

/** Parameters of `fabius/matches`. */
export type MatchesParams = {
  /** A condition, or several with operators that look back, such as `x > 1 after y == 2`. */
  pattern: string,
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** What a cell means. */
export type Meaning = {
  /** The cell. */
  cell: Cell,
  /** Its sign. */
  sign: string,
  /** What it means. */
  meaning: string,
};

/** Whether statements can be next at once. */
export type Meeting = { "answer": "possible",
/** The number of steps. */
steps: number,
/** The first of them. */
page: Array<StepRecord>,
/** The answer in words. */
sentence: string,
} | { "answer": "never",
/** The number of states, which are all. */
states: number,
/** The answer in words. */
sentence: string,
} | { "answer": "unknown",
/** The number of states that were visited. */
states?: number,
/** The answer in words. */
sentence: string,
};

/** A message. */
export type MessageRecord = {
  /** `sent` or `received`. */
  direction: string,
  /** Who did it. */
  pid: number,
  /** The channel. */
  channel: string,
  /** Its fields. */
  fields: string,
};

/** A model, or a file that it includes. */
export type ModelParams = {
  /** The address of the model. */
  uri: string,
};

/** A drawing with what moves in it along a run. */
export type MovingPicture = {
  /** The drawing (SVG) as it is after the last step. An element with bindings has its number in the attribute `data-bound`. */
  svg: string,
  /** What moves. */
  bindings: Array<Binding>,
};

/** A variable or channel with its value. */
export type NamedValue = {
  /** Its name. */
  name: string,
  /** Its value. */
  value: string,
};

/** Statements that nothing executed so far: no search, and no counterexample. Some run may still execute them. */
export type NotExecuted = {
  /** The number of states that the search stored that got furthest. */
  states: number,
  /** A search goes on or waits that may execute them. */
  isSearching: boolean,
  /** Where they stand in the document. */
  ranges: Range[],
};

/** What surprises people about a step. */
export type NoteRecord = {
  /** What it is about, see [`crate::NoteKind::as_str`]. */
  kind: string,
  /** A sentence without its full stop. */
  text: string,
  /** The line of the part of a `d_step` that it is about, from 1. */
  line?: number | null,
};

/** Two steps that come in one order in the first execution, and not in this order in the second one. */
export type OrderRecord = {
  /** What both touch. */
  touches: string,
  /** The step that comes earlier in the first execution, … */
  earlier: EventRecord,
  /** … and the one that comes later there, or never; in the second execution it comes earlier. */
  later: EventRecord,
  /** The later step never comes in the first execution. */
  later_never_comes: boolean,
  /** The earlier step never comes in the second execution. */
  earlier_never_comes: boolean,
};

/** With which statements the order of each statement matters, learnt from all reachable states. */
export type OrderReport = {
  /** Reachable states: all of them. */
  states: number,
  /** Statements of different processes that are possible in the same state. A statement stands for the
   * atomic sequence that it begins. */
  pairs: Array<PairReport>,
};

/** The place of an original text from which a generated model comes, as a `#line` directive says. */
export type OriginalRecord = {
  /** The name of the file, as the directive writes it. */
  file: string,
  /** The line, from 1. */
  line: number,
};

/** A line of the text from which a model was generated. */
export type OriginalText = {
  /** The file. */
  uri: string,
  /** The beginning of the line. The file may have fewer lines. */
  range: Range,
  /** The place in the words of the model, such as `a.src:33`. */
  words: string,
};

/** Two statements of different processes. */
export type PairReport = {
  /** The statements; the same one twice if two processes of a type execute it. */
  statements: [StatementReport, StatementReport],
  /** States in which both are possible. */
  states: number,
  /** States in which the order matters. */
  differing: number,
  /** States of these in which one makes the other impossible. */
  disabling: number,
  /** The order never matters, and the text alone does not tell so. */
  learnt: boolean,
  /** A state in which the order matters. */
  example?: StateReport | null,
};

/** A process with its place in the present text. */
export type PlacedProcess = {
  /** The file in which it is. */
  uri: string | null,
  /** Where it is. */
  range: Range,
  /** Its number. */
  pid: number,
  /** How it is shown, such as `P[1]`. */
  name: string,
  /** Its location, as the drawing of its automaton has it (`data-location`): the name of its type and a number. */
  location: string,
  /** The labels of its location. */
  labels: Array<string>,
  /** It may stop there. */
  end: boolean,
  /** Its next statements. */
  statements: Array<WaitingStatement>,
  /** Its local variables. */
  variables: Array<NamedValue>,
};

/** A step with the place of its statement in the present text. */
export type PlacedStep = {
  /** The file of the statement. */
  uri: string | null,
  /** The statement. */
  range: Range,
  /** The file from which the statement was generated, if it is there; `original` says which line. */
  originalUri: string | null,
  /** Number, from 1. */
  step: number,
  /** Type of the process. */
  process: string,
  /** Its number. */
  pid: number,
  /** The file that holds the statement. */
  file: string,
  /** Its line, from 1. */
  line: number,
  /** Its column in characters, from 1. */
  column: number,
  /** The statement. */
  text: string,
  /** What changed. */
  changes: Array<ChangeRecord>,
  /** The receiver of a rendezvous. */
  partner?: ActorRecord | null,
  /** Messages sent and received. */
  messages?: Array<MessageRecord>,
  /** What was printed. */
  printed?: string,
  /** Processes created. */
  created?: Array<number>,
  /** The process ended. */
  ended?: boolean,
  /** A process holds control after the step. */
  atomic?: boolean,
  /** Several statements were executed as one. */
  d_step?: boolean,
  /** The step was possible only because nothing else was. */
  timeout?: boolean,
  /** Processes that a scheduler would have let move before this step, and that were held back. */
  held_back?: Array<HeldBackRecord>,
  /** What surprises people about the step. */
  notes?: Array<NoteRecord>,
  /** What is wrong with the step. */
  fault?: string | null,
  /** Where the statement was generated from. */
  original?: OriginalRecord | null,
};

/** A number along a run. */
export type Plot = {
  /** The variable, or the channel. */
  name: string,
  /** It is the number of messages in a channel. */
  of_messages: boolean,
  /** The values, each from a step on until the next. */
  points: Array<PlotPoint>,
};

/** A number that something has from a step on. */
export type PlotPoint = {
  /** The number of the step after which it has the value; 0 is the initial state. */
  step: number,
  /** The value. */
  value: number,
};

/** A process in a state. */
export type ProcessState = {
  /** Its number. */
  pid: number,
  /** How it is shown, such as `P[1]`. */
  name: string,
  /** Its location, as the drawing of its automaton has it (`data-location`): the name of its type and a number. */
  location: string,
  /** The labels of its location. */
  labels: Array<string>,
  /** It may stop there. */
  end: boolean,
  /** Its next statements. */
  statements: Array<WaitingStatement>,
  /** Its local variables. */
  variables: Array<NamedValue>,
};

/** A process that stands somewhere at the end of a run. */
export type ProcessStatusRecord = {
  /** Type of the process. */
  process: string,
  /** Its number. */
  pid: number,
  /** Whether it may stop there. */
  end: boolean,
  /** The file. */
  file: string,
  /** The line, from 1. */
  line: number,
  /** The column in characters, from 1. */
  column: number,
  /** The statements at which it waits, and why. */
  waiting: Array<WaitingRecord>,
};

/** How far a search is. */
export type Progress = {
  /** States stored so far. */
  states: number,
  /** Transitions taken so far. */
  transitions: number,
  /** Length of the run it is at, in steps. */
  depth: number,
  /** Memory of visited set and stack together. */
  memory_bytes: number,
  /** Time since the search started. */
  seconds: number,
};

/** What kind of question a property asks. */
export type PropertyClass = "safety" | "progress" | "acceptance" | "ltl";

/** The state of a property. */
export type PropertyState = "unknown" | "running" | "stale" | "holds" | "violated" | "undecided" | "faulty";

/** What is known about a property. */
export type PropertyStatus = {
  /** Its name. */
  name: string,
  /** What it asks. */
  kind: PropertyClass | null,
  /** Its state, in a word. */
  state: PropertyState,
  /** The last verdict. */
  verdict: Verdict | null,
  /** The verdict rests on every reachable state of the present text. */
  exhaustive: boolean,
  /** The verdict is about an earlier text. */
  stale: boolean,
  /** Which infinite runs count. */
  fairness: Fairness,
  /** The time (UTC) of the earlier run that proved it, if it was not searched now. */
  cached: string | null,
  /** What is known, in one line. */
  summary: string | null,
  /** The same in a few words. */
  short: string | null,
  /** The number of states visited. */
  states: number | null,
  /** The number of delays up to which a search found nothing. */
  bound: number | null,
  /** The number of counterexamples. */
  counterexamples: number,
  /** Whether a scheduler can avoid every error. */
  avoidable: boolean | null,
  /** What became of the first counterexample in the present text. */
  replay: string | null,
  /** The verdict that the project or the model says is right. */
  expected: Verdict | null,
  /** Where the property is in this document. */
  range: Range | null,
};

/** Parameters of `fabius/stop` and `fabius/prioritize`. */
export type QueueParams = {
  /** The address of the model. */
  uri: string,
  /** The property; the whole check if it is left out. */
  property?: string,
};

/** Where a formula and its parts hold along a run, or where a claim is. Position `p` is the state after `p` steps. */
export type Ribbon = {
  /** What the table shows. */
  heading: string,
  /** What the formula says, where that is easier to read than the formula. */
  sentence: string | null,
  /** The number of positions that the columns stand for. */
  positions: number,
  /** The position to which the run goes back after the last one; none where only the beginning of the run is known. */
  loopPosition: number | null,
  /** The columns, in order. */
  columns: Array<Column>,
  /** Some columns of a long run are left out. */
  leftOut: LeftOut | null,
  /** The rows, the formula first. */
  rows: Array<TableRow>,
  /** What the cells mean, of those that there are. */
  legend: Array<Meaning>,
  /** What else there is to know about the table. */
  remarks: Array<string>,
};

/** Two runs beside one another. */
export type RunComparison = {
  /** The first run. */
  first: RunSummary,
  /** The second run. */
  second: RunSummary,
  /** Initial values that differ. */
  initial: Array<ValueDifference>,
  /** The steps of both, in their order. */
  rows: Array<ComparedStep>,
  /** Number of rows at the beginning in which both runs take the same step with the same effect. */
  alike: number,
  /** Values that differ in the last states. */
  last: Array<ValueDifference>,
};

/** Parameters of `fabius/run`. */
export type RunParams = {
  /** The address of the model. */
  uri: string,
  /** The property; all if it is left out. */
  property?: string,
  /** Which infinite runs count as violations from now on: `none`, `weak` or `strong`. */
  fairness?: string,
  /** From now on, checks of the model do not go on from states in which this is true; an empty text: from all states again. */
  leaveOut?: string,
};

/** A run in a few words. */
export type RunSummary = {
  /** Number of steps. */
  steps: number,
  /** How it ends. */
  ends: string,
  /** Number of the first step of its loop, if it ends in one. */
  loop_start?: number | null,
};

/** A check that is under way. */
export type Running = {
  /** The property. */
  property: string,
  /** How deep the check goes. */
  tier: Tier,
  /** The number of delays up to which it found nothing so far. */
  bound: number | null,
  /** How far the search is. */
  progress: Progress | null,
  /** How many checks of other models begin before it, if it waits for one of them to end; `null` if it goes on. */
  ahead: number | null,
};

/** The run that violates a property beside the one before the last save. */
export type RunsCompared = {
  /** The property. */
  property: string,
  /** All of it as a text. */
  text: string,
  /** The steps of both runs, and what became of the older one. */
  comparison: VersionComparison,
};

/** What a client may set, under the name `fabius`. Whatever is left out keeps its default. */
export type Settings = {
  /** When checks start: `save`, `change` or `never`. */
  check?: string,
  /** Time of the quick look, in milliseconds. */
  quickMilliseconds?: number,
  /** Time of the deep search, in seconds. */
  deepSeconds?: number,
  /** The same where the computer runs on its battery, if that is less. */
  batterySeconds?: number,
  /** Memory of a search, in mebibytes. */
  memoryMebibytes?: number,
  /** Whether the reachable states are looked at for hints. */
  hints?: boolean,
  /** Whose schedules the quick look disturbs, as for `fabius check --delay`. */
  scheduler?: string,
  /** Which infinite runs count as violations: `none`, `weak` or `strong`. */
  fairness?: string,
  /** Macros, as `NAME` or `NAME=VALUE`. */
  defines?: Array<string>,
  /** Names or kinds of the properties to check. */
  properties?: Array<string>,
};

/** What the states of a model are spent on. */
export type SpentStates = {
  /** The answer in words. */
  sentence: string,
  /** The number of states that were looked at. */
  states: number,
  /** Whether these are all. */
  exhaustive: boolean,
  /** The text was edited since. */
  stale: boolean,
  /** What costs something, the most expensive first. */
  costs: Array<StatesOfPart>,
};

/** The state after a step. */
export type StateAfter = {
  /** The step, from 1; 0 is before all of them. */
  step: number,
  /** The global variables. */
  variables: Array<NamedValue>,
  /** The channels. */
  channels: Array<NamedValue>,
  /** The processes. */
  processes: Array<PlacedProcess>,
};

/** A state, as a person finds it. */
export type StateReport = {
  /** Steps of a shortest path that leads there. */
  steps: number,
  /** Variables and channels with their values. */
  values: Array<[string, string]>,
};

/** A statement of a type of processes. */
export type StatementReport = {
  /** The type. */
  process: string,
  /** Its line, from 1. */
  line: number,
  /** The statement. */
  text: string,
  /** It begins an atomic sequence, which is meant. */
  atomic: boolean,
};

/** What a part of the states costs. */
export type StatesOfPart = {
  /** Its name: `x`, `P:x`, or `P` for the places of a process type. */
  name: string,
  /** What it is: `variable`, `channel` or `places`. */
  part: "variable" | "channel" | "places",
  /** The share of the states that differ from others only in it, from 0 to 1. */
  share: number,
  /** The number of its different values. */
  values: number,
  /** Where it is declared. */
  place: { uri: string; range: Range } | null,
};

/** All that is known about a model. */
export type Status = {
  /** The model. */
  uri: string,
  /** The version of the document. */
  version: number,
  /** A later status of the same server has a greater number. */
  serial: number,
  /** The check that is under way. */
  running: Running | null,
  /** The properties that are checked after the one that is under way, in this order. */
  waiting: Array<Waiting>,
  /** Checks do not go on from states in which this is true. */
  leaveOut: string | null,
  /** Checks cut off runs after this many steps. */
  maxDepth: number | null,
  /** Depth-first searches for violations of safety prefer states in which this is true. Null as well while that says nothing about the
   * model, since its text was edited. */
  visitFirst: string | null,
  /** Why the model cannot be checked as it is; the properties are then those from before. */
  faulty: Faulty | null,
  /** The properties. */
  properties: Array<PropertyStatus>,
  /** Which reachable states were looked at for coverage. */
  survey: SurveyStatus | null,
  /** The states are being looked at for coverage. */
  surveying: boolean,
};

/** Parameters of `fabius/steer`. */
export type SteerParams = {
  /** The address of the model. */
  uri: string,
  /** From now on, checks of the model cut off runs after this many steps; 0: they do not. Nothing changes without it. */
  maxDepth?: number,
  /** From now on, depth-first searches for violations of safety visit states in which this is true before others; empty: in any order.
   * Nothing changes without it. */
  visitFirst?: string,
};

/** A step of a counterexample. */
export type StepMark = {
  /** Its number, from 1. */
  step: number,
  /** The property. */
  property: string,
  /** The number of the counterexample, from 0. */
  counterexample: number,
  /** The run is one of an earlier text. */
  stale: boolean,
};

/** Parameters of `fabius/step`. */
export type StepParams = {
  /** The step, from 1; 0 is the state before all of them. */
  step: number,
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** A step. */
export type StepRecord = {
  /** Number, from 1. */
  step: number,
  /** Type of the process. */
  process: string,
  /** Its number. */
  pid: number,
  /** The file that holds the statement. */
  file: string,
  /** Its line, from 1. */
  line: number,
  /** Its column in characters, from 1. */
  column: number,
  /** The statement. */
  text: string,
  /** What changed. */
  changes: Array<ChangeRecord>,
  /** The receiver of a rendezvous. */
  partner?: ActorRecord | null,
  /** Messages sent and received. */
  messages?: Array<MessageRecord>,
  /** What was printed. */
  printed?: string,
  /** Processes created. */
  created?: Array<number>,
  /** The process ended. */
  ended?: boolean,
  /** A process holds control after the step. */
  atomic?: boolean,
  /** Several statements were executed as one. */
  d_step?: boolean,
  /** The step was possible only because nothing else was. */
  timeout?: boolean,
  /** Processes that a scheduler would have let move before this step, and that were held back. */
  held_back?: Array<HeldBackRecord>,
  /** What surprises people about the step. */
  notes?: Array<NoteRecord>,
  /** What is wrong with the step. */
  fault?: string | null,
  /** Where the statement was generated from. */
  original?: OriginalRecord | null,
};

/** Whether a model can deadlock with a process waiting at a line. */
export type StuckAt = {
  /** Whether it can. */
  verdict: StuckVerdict,
  /** The same in words. */
  sentence: string,
  /** The number of states that were visited. */
  states: number,
  /** Whether everything was checked. */
  exhaustive: boolean,
  /** The name of the run that shows it. */
  run?: string,
};

/** Whether a deadlock can be reached. */
export type StuckVerdict = "deadlock" | "no_deadlock" | "unknown";

/** Which reachable states were looked at. */
export type SurveyStatus = {
  /** Their number. */
  states: number,
  /** Whether these are all. */
  exhaustive: boolean,
};

/** A change that no property notices. */
export type Survivor = {
  /** The file. */
  uri: string,
  /** What is changed. */
  range: Range,
  /** How, in a sentence. */
  message: string,
};

/** The changes of a model that no property notices. */
export type Survivors = {
  /** How many there are, of how many. */
  sentence: string,
  /** The present text means something else. */
  stale: boolean,
  /** The changes, in the order of the text. */
  survivors: Array<Survivor>,
};

/** What came of the values of macros that a comment names. */
export type Swept = {
  /** What came of all values, in a line. */
  sentence: string,
  /** The text was edited meanwhile. */
  stale: boolean,
  /** A row for each combination and property, and what the next value will cost, as Markdown. */
  table: string,
};

/** A part of a formula, or a place or condition of a claim. */
export type TableRow = {
  /** Its text. */
  text: string,
  /** How deep it is in the formula: 0 of the formula itself. */
  depth: number,
  /** Whether it is about one state. */
  isProposition: boolean,
  /** Its value in each column. */
  cells: Array<Cell>,
};

/** How deep a check goes. What one tier leaves undecided is for the next. */
export type Tier = "quick" | "delay-deepening" | "deep" | "extended";

/** How a run ends. */
export type TraceKind = ViolationClass | string;

/** A page of a run. */
export type TracePage = {
  /** The property, or the name of the run. */
  property: string,
  /** The number of the counterexample, from 0. */
  counterexample: number,
  /** How the run ends, in a word. */
  kind: TraceKind,
  /** How the run ends, in a sentence. */
  message: string,
  /** The run is one of an earlier text. */
  stale: boolean,
  /** The number of steps of the run, those of a claim included. */
  steps: number,
  /** The number of the step with which the loop begins. */
  loopStart: number | null,
  /** The first step of the page, from 1. */
  from: number,
  /** The steps. */
  page: Array<PlacedStep>,
  /** The processes that are stuck at the end. */
  blocked: Array<ProcessStatusRecord>,
  /** What explains the run, a sentence each. */
  explanation: Array<string>,
  /** What to do. */
  advice: string | null,
  /** Where the formula or claim holds; of the first page only, if the run has one. */
  ribbon: Ribbon | null,
  /** How numbers change along the run; of the first page only, and of a run of at most 5 000 steps. */
  plots: Array<Plot>,
  /** The drawing beside the model, as it moves along the run; of the first page only, if there is one. */
  picture: MovingPicture | null,
  /** Why the drawing beside the model cannot be shown, if there is one that cannot. */
  pictureProblem: string | null,
};

/** Parameters of `fabius/trace`. */
export type TraceParams = {
  /** The first step of the page, from 1. */
  from?: number,
  /** The number of steps of the page. */
  count?: number,
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** A run: a counterexample, or one that an answer named. */
export type TraceSource = {
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** A value that differs. */
export type ValueDifference = {
  /** The variable or channel, as it is called in the first run. */
  name: string,
  /** The value in the first run. */
  first: string,
  /** The value in the second run. */
  second: string,
};

/** A value that an expression has from a step on. */
export type ValueFrom = {
  /** The number of the step after which it has the value; 0 is the initial state. */
  step: number,
  /** The value as a person reads it; `None` where it cannot be computed. */
  value: string | null,
};

/** The answer to a question about a model. */
export type Verdict = "holds" | "violated" | "undecided" | "faulty";

/** Two versions of a model: what became of the run that violates a property in one of them. */
export type VersionComparison = {
  /** The run of one version, followed in the other one. */
  followed: FollowedRunRecord,
  /** Whether both versions have a run that violates the property: these are compared. Else the run that was followed is
   * compared with what became of it. */
  both_violate: boolean,
  /** The run of the old version and that of the new one; absent if they cannot be compared. */
  runs?: RunComparison | null,
  /** Why they are not compared. */
  not_compared?: string | null,
};

/** What went wrong at the end of a counterexample. */
export type ViolationClass = "assertion" | "invalid_end_state" | "evaluation" | "non_progress_cycle" | "acceptance_cycle" | "claim_completed" | "trace";

/** A property that waits for its turn. */
export type Waiting = {
  /** The property. */
  property: string,
  /** How deep it is going to be looked at. */
  tier: Tier,
  /** How far the search was when it was interrupted for another property, if it goes on from there. */
  progress: Progress | null,
};

/** A statement at which a process waits. */
export type WaitingRecord = {
  /** The statement. */
  text: string,
  /** Its line, from 1. */
  line: number,
  /** Whether it could be executed, and was not: other processes moved, or the run ends before. */
  executable?: boolean,
  /** Why it is not executed, as a sentence. */
  reason: string,
};

/** A statement that a process could execute next. */
export type WaitingStatement = {
  /** The statement. */
  statement: string,
  /** Why it can or cannot be executed. */
  why: string,
  /** Whether it can be executed. */
  executable: boolean,
  /** The parts that make its condition false, from left to right: whatever the others are, it is false as long as these are as they are. */
  parts: Array<FalsePart>,
};

/** What the processes of a state wait for. */
export type Why = {
  /** The step, from 1; 0 is before all of them. */
  step: number,
  /** The processes. */
  processes: Array<ProcessState>,
};

/** Parameters of `fabius/why`. */
export type WhyParams = {
  /** The step, from 1; 0 is the state before all of them. */
  step: number,
  /** The process; all if it is left out. */
  pid?: number,
  /** The address of the model. */
  uri: string,
  /** The property; the first one with a counterexample if it is left out. */
  property?: string,
  /** The number of the counterexample, from 0. */
  counterexample?: number,
  /** A run that an answer named, instead of a counterexample. */
  run?: string,
};

/** The parameters and answers of requests, by method. */
export interface Requests {
  "fabius/properties": { params: ModelParams; answer: Status | null };
  "fabius/lines": { params: ModelParams; answer: Lines | null };
  "fabius/trace": { params: TraceParams; answer: TracePage };
  "fabius/export": { params: ExportParams; answer: Exported };
  "fabius/step": { params: StepParams; answer: StateAfter };
  "fabius/compareRuns": { params: CompareParams; answer: RunsCompared };
  "fabius/original": { params: LinesParams; answer: OriginalText | null };
  "fabius/select": { params: StepParams; answer: null };
  "fabius/matches": { params: MatchesParams; answer: Matches };
  "fabius/why": { params: WhyParams; answer: Why };
  "fabius/run": { params: RunParams; answer: Status | null };
  "fabius/steer": { params: SteerParams; answer: Status | null };
  "fabius/prioritize": { params: QueueParams; answer: Status | null };
  "fabius/stop": { params: QueueParams; answer: Status | null };
  "fabius/survey": { params: ModelParams; answer: Status | null };
  "fabius/meet": { params: LinesParams; answer: Meeting | null };
  "fabius/executions": { params: ExecutionsParams; answer: CountedExecutions };
  "fabius/executionTree": { params: ExecutionTreeParams; answer: ExecutionTree };
  "fabius/execution": { params: ExecutionParams; answer: ExecutionPage };
  "fabius/contexts": { params: ContextsParams; answer: Contexts };
  "fabius/stuck": { params: LinesParams; answer: StuckAt };
  "fabius/graph": { params: DrawParams; answer: Drawing };
  "fabius/mutate": { params: ModelParams; answer: Survivors };
  "fabius/causes": { params: CausesParams; answer: CausesFound };
  "fabius/cost": { params: ModelParams; answer: SpentStates };
  "fabius/sweep": { params: LinesParams; answer: Swept };
  "fabius/stopSweep": { params: LinesParams; answer: null };
}

/** The parameters of notifications, by method. */
export interface Notifications {
  "fabius/status": Status;
}
