import { advice, broken, type Finding, ok } from './finding.ts';

/** Minimum difference that is reported, in ms. Times of orders and of their expiry are then visibly wrong. */
const adviceMs = 70_000;
/** Maximum time in ms that a block may be ahead of a node's clock (Bitcoin Core, MAX_FUTURE_BLOCK_TIME). */
const brokenMs = 2 * 60 * 60 * 1000;

/** A clock that was compared with the clock of this machine. */
export interface ComparedClock {
  readonly of: 'node' | 'postgres';
  /** Time of this clock minus the time of this machine, in ms. */
  readonly aheadMs: number;
}

const names = { node: 'the node', postgres: 'Postgres' } as const;

/** Judges a clock. Pure. */
export function judgeClock({ of, aheadMs }: ComparedClock): Finding {
  const off = Math.abs(aheadMs);
  if (off < adviceMs) return ok(`clock.${of}`, `The clocks of this machine and of ${names[of]} agree.`);
  const message = `The clock of ${names[of]} is ${shownTime(off)} ${aheadMs > 0 ? 'fast' : 'slow'}, compared with the clock of this machine.`;
  const action =
    'Find out which of the two is wrong, and let a program such as chrony or systemd-timesyncd set it.';
  return (off < brokenMs ? advice : broken)(`clock.${of}`, message, action);
}

/** A length of time in the largest fitting unit. */
export function shownTime(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 2) return `${Math.round(ms / 1000)} s`;
  if (minutes < 120) return `${minutes} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${Number(hours.toFixed(1))} h` : `${Math.round(hours / 24)} days`;
}
