/** The progress of a bulk load. */
export interface ProgressState {
  readonly blocks: number;
  readonly blocksTotal: number;
  readonly bytes: number;
  /**
   * Size of the remaining blocks, in bytes. `null` if unknown. Absent if every block takes the same work; then blocks
   * are counted.
   */
  readonly bytesLeft?: number | null;
  readonly inscriptions: number;
  /** The part of the program that limits the speed at the moment. `null` or absent if unknown. */
  readonly bound?: string | null;
}

/** The output for progress: a terminal, where a line can be redrawn, or a log. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** The fields of a log line. */
export interface ProgressFields extends ProgressState {
  readonly megabytesPerSecond: number;
  readonly seconds: number;
  /** `null` before the first block, and while the size of the remaining blocks is unknown. */
  readonly secondsLeft: number | null;
}

export interface Progress {
  update(state: ProgressState): void;
  /** Draws the last state and ends the line. */
  finish(): void;
}

/** How often the line is redrawn, in ms. This is often enough to look alive, and costs almost nothing. */
const drawEveryMs = 100;
/** Minimum time between two log lines, in ms, so that the log file stays small. */
const lineEveryMs = 5000;
const barWidthMax = 28;
/** Minimum width of a bar. A narrower bar shows no more than the number of blocks. */
const barWidthMin = 8;
/** Assumed columns of a terminal that does not report its width. */
const usualColumns = 80;

/** Work that was done before the measured time began. */
type ProgressStart = Pick<ProgressState, 'blocks' | 'bytes'>;

const fromNothing: ProgressStart = { blocks: 0, bytes: 0 };

/**
 * Draws a bar on a terminal. Without a terminal it writes a log line at the start, every five seconds, and at the end.
 * `now` is in milliseconds.
 */
export function createProgress(
  output: ProgressOutput,
  now: () => number,
  log: (fields: ProgressFields) => void,
  start: ProgressStart = fromNothing,
): Progress {
  const startedAt = now();
  const everyMs = output.isTTY === true ? drawEveryMs : lineEveryMs;
  let drawnAt = Number.NEGATIVE_INFINITY;
  let last: ProgressState | null = null;
  let shown: ProgressState | null = null;
  const draw = (state: ProgressState): void => {
    drawnAt = now();
    shown = state;
    const seconds = (drawnAt - startedAt) / 1000;
    if (output.isTTY !== true) {
      log(progressFields(state, seconds, start));
      return;
    }
    // keep the line shorter than the terminal, because a wrapped line cannot be redrawn
    const line = progressLine(state, seconds, start, Math.max(1, (output.columns ?? usualColumns) - 1));
    output.write(`\r\u001b[2K${line}`);
  };
  return {
    update: (state) => {
      last = state;
      if (now() - drawnAt >= everyMs) draw(state);
    },
    finish: () => {
      if (last !== null && last !== shown) draw(last);
      if (last !== null && output.isTTY === true) output.write('\n');
    },
  };
}

/**
 * Share of the bytes that are done, because late blocks of mainnet are many times as large as early blocks. If the
 * bytes are unknown, it is the share of the blocks.
 */
function shareDone({ blocks, blocksTotal, bytes, bytesLeft }: ProgressState): number {
  if (typeof bytesLeft === 'number' && bytes + bytesLeft > 0) return bytes / (bytes + bytesLeft);
  return blocksTotal === 0 ? 1 : blocks / blocksTotal;
}

function secondsLeftOf(state: ProgressState, seconds: number, start: ProgressStart): number | null {
  const { blocksTotal, bytesLeft } = state;
  const [blocks, bytes] = [state.blocks - start.blocks, state.bytes - start.bytes];
  if (bytesLeft === undefined) return blocks === 0 ? null : (seconds / blocks) * (blocksTotal - state.blocks);
  return bytes === 0 || bytesLeft === null ? null : (seconds / bytes) * bytesLeft;
}

function megabytesPerSecondOf({ bytes }: ProgressState, seconds: number, start: ProgressStart): number {
  return seconds > 0 ? (bytes - start.bytes) / 1e6 / seconds : 0;
}

/**
 * Returns a line of progress that fits a width. If it is too long, the bar is dropped first, then the last parts of the
 * text, which matter least.
 */
function progressLine(state: ProgressState, seconds: number, start: ProgressStart, width: number): string {
  const parts = progressParts(state, seconds, start);
  const textWidth = width - barWidthMin - 1;
  while (parts.length > 1 && parts.join(', ').length > textWidth) parts.pop();
  const text = parts.join(', ');
  const barWidth = Math.min(barWidthMax, Math.max(barWidthMin, width - text.length - 1));
  const full = Math.round(shareDone(state) * barWidth);
  return `${'█'.repeat(full)}${'░'.repeat(barWidth - full)} ${text}`.slice(0, width);
}

/**
 * Returns the parts of the text, the most important first: for example `7/12 blocks`, `81 MB/s`, `3 s left`, `bound by
 * ledger`, `12,345 inscriptions`.
 */
export function progressParts(state: ProgressState, seconds: number, start: ProgressStart): string[] {
  const megabytesPerSecond = megabytesPerSecondOf(state, seconds, start);
  const parts = [
    `${state.blocks}/${state.blocksTotal} blocks`,
    `${megabytesPerSecond.toFixed(megabytesPerSecond < 10 ? 1 : 0)} MB/s`,
  ];
  if (state.blocks < state.blocksTotal) {
    const left = secondsLeftOf(state, seconds, start);
    if (left !== null) parts.push(`${durationText(left)} left`);
    if (typeof state.bound === 'string') parts.push(`bound by ${state.bound}`);
  } else if (state.blocks === state.blocksTotal) {
    parts.push(`${durationText(seconds)} taken`);
  }
  parts.push(`${state.inscriptions.toLocaleString('en-US')} inscriptions`);
  return parts;
}

function progressFields(state: ProgressState, seconds: number, start: ProgressStart): ProgressFields {
  const left = secondsLeftOf(state, seconds, start);
  return {
    ...state,
    megabytesPerSecond: Math.round(megabytesPerSecondOf(state, seconds, start) * 10) / 10,
    seconds: Math.round(seconds),
    secondsLeft: left === null ? null : Math.round(left),
  };
}

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
