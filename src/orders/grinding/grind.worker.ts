import { runInBackground } from '#kernel/process/background-thread.ts';
import { findLockTime } from './find-lock-time.ts';

export interface GrindTask {
  /** A transaction without its witness. */
  readonly unsigned: Uint8Array;
  /** 1 to 4 hex characters. */
  readonly prefix: string;
}

// answers to clients have priority
runInBackground();

/** Finds the lock time with which a transaction's txid has the prefix. */
export default function grind({ unsigned, prefix }: GrindTask): number {
  return findLockTime(unsigned, prefix);
}
