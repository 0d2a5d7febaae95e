import type { FollowOptions } from '#indexer/follow/follow-options.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import { levelOfFailure } from '#kernel/errors/node-away.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { createProgress, type Progress, type ProgressState } from '#src/app/reports/progress.ts';
import type { MempoolFollower } from './mempool.ts';

export type FollowerReports = Pick<
  FollowOptions,
  | 'onProgress'
  | 'onCommit'
  | 'onUndo'
  | 'onStandby'
  | 'onWaiting'
  | 'onStatus'
  | 'onDiskShort'
  | 'onStep'
  | 'onQueue'
> & {
  /** Removes the progress bar. */
  readonly finish: () => void;
};

/**
 * Shows the reports of a follower. During a load it shows a progress bar. At the tip it logs a line for each block. It
 * also logs each reorganisation, standby and wait, and logs measurements if there are any.
 */
export function followerReports(
  { logger }: CommandContext,
  operations: OperationsParts | null,
  mempool: MempoolFollower | null,
  bound: () => string | null,
): FollowerReports {
  const log = logger.child({ part: 'follower' });
  const bar = new Bar((fields) => log.info(fields, 'indexing'));
  let state: FollowerStatus['state'] = 'syncing';
  const repeats = new Repeats();
  let queue = { length: 0, limit: 0 };
  operations?.metrics.watchQueue('blocks', () => queue);
  return {
    finish: () => bar.finish(),
    onProgress: (progress) => {
      if (state === 'syncing') bar.update({ ...progress, bound: bound() });
    },
    onCommit: ({ blocks, bytes, inscriptions, position }) => {
      repeats.reset();
      operations?.metrics.countBlocks({ blocks, bytes, inscriptions });
      if (state === 'syncing' || position.tip === null) return;
      const { height, hash } = position.tip;
      log.info({ height, hash: displayHash(hash), bytes, inscriptions }, 'block');
    },
    onUndo: (depth, height) => {
      operations?.metrics.observeReorganisation(depth);
      log.warn({ depth, height }, 'reorganisation: blocks above this height are taken back');
    },
    onStandby: () => {
      operations?.setStandby(true);
      mempool?.stop();
      log.info('another process indexes into this database, so this process is on standby');
    },
    onWaiting: (problem, delayMs) => {
      if (!repeats.isDue(problem.code)) return;
      const said = { code: problem.code, reason: problem.message, delayMs: Math.round(delayMs) };
      log[levelOfFailure(problem)](said, 'waiting');
    },
    onStatus: (status) => {
      if (status.state !== state) log.info({ state: status.state, from: state }, 'follower');
      state = status.state;
      operations?.setStandby(false);
      if (state !== 'syncing') bar.finish();
      // during a first sync the index is incomplete, so the mempool could not be compared with it
      if (state === 'following') mempool?.start();
    },
    onDiskShort: ({ neededBytes, freeBytes, folder }) =>
      log.warn(
        { neededBytes, freeBytes, folder },
        'the disk has less free space than the remaining blocks need',
      ),
    onStep: (step, seconds) => operations?.metrics.observeStep(step, seconds),
    onQueue: (waiting, limit) => {
      queue = { length: waiting, limit };
    },
  };
}

/**
 * Progress bars, one after another. A load can happen again, for example after a long time without the node. Work
 * before the first report of a bar is not counted in its speed.
 */
class Bar {
  readonly #log: Parameters<typeof createProgress>[2];
  #progress: Progress | null = null;

  constructor(log: Parameters<typeof createProgress>[2]) {
    this.#log = log;
  }

  update(state: ProgressState): void {
    this.#progress ??= createProgress(process.stderr, () => performance.now(), this.#log, state);
    this.#progress.update(state);
  }

  finish(): void {
    this.#progress?.finish();
    this.#progress = null;
  }
}
