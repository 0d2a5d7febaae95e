/**
 * How every part of the program reacts to a failure (src/kernel/retry.ts; docs/adr/0024-one-retry-policy.md).
 * - `never`: a person must change something first.
 * - `soon`: the same call will succeed by itself, so it is retried with growing pauses.
 * - `always`: like `soon`, but without limit, because it may take long until a person frees space on a disk.
 * - `replan`: the same call would fail again, so the caller reads the current state and continues from there.
 * - `few`: a wrong answer may be right the next time, so there are five more attempts. After them, it is like `minute`.
 * - `minute`: a person must fix a server, so a service continues with what it has and retries once a minute.
 */
export type RetryClass = 'never' | 'soon' | 'always' | 'replan' | 'few' | 'minute';

/** Meaning and remedy of an operating failure. `docs/errors.md` is made from this table. */
export interface ErrorCodeEntry {
  readonly meaning: string;
  readonly action: string;
  readonly retry: RetryClass;
  /**
   * The only source for which the failure is retried. If it is `node`, a file of a folder is not retried, because it
   * stays wrong until a person replaces it. If it is `cookieFile`, a password is not retried. A node writes its cookie
   * again at each start, but a password is changed by a person, who restarts this program.
   */
  readonly retryOnly?: 'node' | 'cookieFile';
}
