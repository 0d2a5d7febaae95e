import { runInBackground } from '#kernel/process/background-thread.ts';
import { findLockTime } from './find-lock-time.ts';

export interface GrindTask {
  /** A transaction without its witness. */
  readonly unsigned: Uint8Array;
  /** 1 to 4 hex characters. */
  readonly prefix: string;
}

// answers have priority
runInBackground();

/** The lock time that gives a transaction's txid its prefix. */
export default function grind({ unsigned, prefix }: GrindTask): number {
  return findLockTime(unsigned, prefix);
}
