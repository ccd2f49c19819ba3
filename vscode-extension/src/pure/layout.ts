// How wide the columns of the chart are: what is said of a step first, then the lanes, which give way.

const LANE_WIDTH_MAX = 88;
const LANE_WIDTH_MIN = 26;
/** Narrower lanes have their names upright. */
const LEVEL_NAME_WIDTH_MIN = 76;
const SAID_WIDTH_MIN = 200;
/** The part of the width that the lanes may take from what is said. */
const LANES_SHARE = 0.4;

const LETTER_WIDTH = 7;

export const ROW_HEIGHT = 24;

export interface Layout {
  /** Number, statement and changes, which stay in view. */
  said: number;
  lane: number;
  /** Both together: what is more than the window is scrolled to. */
  width: number;
  /** Of the names of the lanes. */
  head: number;
  upright: boolean;
}

export function layout(width: number, lanes: number): Layout {
  const count = Math.max(lanes, 1);
  const share = Math.floor((width * LANES_SHARE) / count);
  const lane = Math.max(LANE_WIDTH_MIN, Math.min(LANE_WIDTH_MAX, share));
  const said = Math.max(SAID_WIDTH_MIN, Math.floor(width * (1 - LANES_SHARE)), width - count * lane);
  const upright = lane < LEVEL_NAME_WIDTH_MIN;
  return { said, lane, width: said + count * lane, head: upright ? 96 : ROW_HEIGHT, upright };
}

/** The name of a lane, short enough for its head; the number stays. */
export function laneName(name: string, of: Layout): string {
  const room = Math.floor((of.upright ? of.head : of.lane) / LETTER_WIDTH);
  const number = /\[\d+\]$/.exec(name)?.[0] ?? "";
  if (name.length <= room) return name;
  return `${name.slice(0, Math.max(1, room - number.length - 1))}…${number}`;
}

/** The middle of a lane. */
export function laneX(of: Layout, lane: number): number {
  return of.said + of.lane / 2 + lane * of.lane;
}
