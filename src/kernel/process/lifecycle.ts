import { setTimeout as sleep } from 'node:timers/promises';

/** Reason why the process ends. It is a signal, an uncaught error, or completed work. */
export type StopReason = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'error' | 'done';

export interface StopReport {
  /** Names of the parts that did not stop in time. */
  readonly late: readonly string[];
  readonly failed: readonly { readonly part: string; readonly error: unknown }[];
}

/** The running parts of this process, and their shutdown. */
export interface Lifecycle {
  /** Aborted when the shutdown begins. */
  readonly signal: AbortSignal;
  /** Null until the shutdown begins. */
  readonly reason: StopReason | null;
  /** Adds a running part. `stop` ends this part. Parts stop in reverse order. */
  add(part: string, stop: () => Promise<void> | void, deadlineMs?: number): void;
  /**
   * Runs work that listens to `signal`, as a part. The part has stopped when the work settles, and parts that were
   * added earlier stop only after that. A shutdown that begins while the work runs waits for the work until the
   * deadline.
   */
  run<T>(part: string, work: (signal: AbortSignal) => Promise<T>, deadlineMs?: number): Promise<T>;
  /** Resolves when the shutdown begins. Rejects with the error of a failed part if the process needs this part. */
  untilStopping(): Promise<void>;
  /** Resolves after a time. Rejects if the shutdown begins before. */
  pause(milliseconds: number): Promise<void>;
  /**
   * Reports that a background part failed permanently, so that `untilStopping` rejects. Has no effect after the
   * shutdown has begun.
   */
  fail(error: unknown): void;
  /** Ends all parts once. Later calls wait for the same shutdown. Never rejects. */
  stop(reason: StopReason): Promise<StopReport>;
}

interface Part {
  readonly name: string;
  readonly stop: () => Promise<void> | void;
  readonly deadlineMs: number;
}

/**
 * Default deadline for stopping a part, in ms. It is enough for open requests and one transaction. A part that may take
 * longer sets its own deadline.
 */
const deadlineDefaultMs = 10_000;

/**
 * A lifecycle with one controller, and with named parts that each have a deadline. If a part stops too late, it is
 * abandoned and the next part stops.
 */
export function createLifecycle(): Lifecycle {
  const controller = new AbortController();
  const parts: Part[] = [];
  let reason: StopReason | null = null;
  let stopping: Promise<StopReport> | undefined;
  const failed = Promise.withResolvers<never>();
  // if no caller waits for the shutdown, the work that needs the failed part fails by itself
  failed.promise.catch(() => undefined);

  const add = (name: string, stop: Part['stop'], deadlineMs = deadlineDefaultMs): Part => {
    const part = { name, stop, deadlineMs };
    parts.push(part);
    return part;
  };

  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    add: (name, stop, deadlineMs) => {
      add(name, stop, deadlineMs);
    },
    run: async (name, work, deadlineMs) => {
      controller.signal.throwIfAborted();
      const running = work(controller.signal);
      const settled = running.then(
        () => undefined,
        () => undefined,
      );
      const part = add(name, () => settled, deadlineMs);
      try {
        return await running;
      } finally {
        const at = parts.indexOf(part);
        if (at !== -1) parts.splice(at, 1);
      }
    },
    untilStopping: () =>
      Promise.race([
        failed.promise,
        new Promise<void>((resolve) => {
          if (controller.signal.aborted) resolve();
          else controller.signal.addEventListener('abort', () => resolve(), { once: true });
        }),
      ]),
    pause: (milliseconds) => sleep(milliseconds, undefined, { signal: controller.signal }),
    fail: (error) => {
      if (!controller.signal.aborted) failed.reject(error);
    },
    stop: (why) => {
      if (stopping === undefined) {
        reason = why;
        stopping = stopParts(parts);
        controller.abort();
      }
      return stopping;
    },
  };
}

async function stopParts(parts: Part[]): Promise<StopReport> {
  const late: string[] = [];
  const failed: { part: string; error: unknown }[] = [];
  // let every part see the abort before the first part is stopped
  await Promise.resolve();
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    try {
      if (!(await withinDeadline(part))) late.push(part.name);
    } catch (error) {
      failed.push({ part: part.name, error });
    }
  }
  return { late, failed };
}

async function withinDeadline(part: Part): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), part.deadlineMs);
  });
  try {
    return await Promise.race([Promise.resolve(part.stop()).then(() => true), timeout]);
  } finally {
    clearTimeout(timer);
  }
}
