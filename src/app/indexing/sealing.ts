import { mayPostgresSearch } from '#config/config.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { createSealer, type Sealer, type SealerOptions } from '#search/seal/sealer.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Seals new inscriptions for searches. It does nothing if searches are not answered by Postgres. */
export interface Sealing {
  /** Seals in parallel with other work. If this fails, `sealRest` tries again and reports the failure. */
  sealBeside(signal: AbortSignal): void;
  /** Ends continuous sealing. Two sealers at the same time would create the last segment twice. */
  stop(): Promise<void>;
  /** Seals everything that is complete. */
  sealRest(signal: AbortSignal): Promise<void>;
}

const noSealing: Sealing = {
  sealBeside: () => undefined,
  stop: () => Promise.resolve(),
  sealRest: () => Promise.resolve(),
};

/** Starts continuous sealing if Postgres answers searches. */
export function startSealing(context: CommandContext, options: SealerOptions): Sealing {
  const { config, lifecycle, logger } = context;
  const sealer = openSealer(context, options);
  if (!mayPostgresSearch(config)) return noSealing;
  const stopped = new AbortController();
  // sealing yields to the writer even if there are no searches, because the reader and the writer of blocks leave some
  // cores idle at times
  const run = lifecycle
    .run('sealing', (signal) => sealer.run(AbortSignal.any([signal, stopped.signal])))
    .catch((error: unknown) => logger.child({ part: 'sealer' }).error({ err: error }, 'sealing ended'));
  return {
    sealBeside: (signal) => {
      // Ignore the failure, because `sealRest` seals the missing parts at the end, and reports the failure if it
      // happens again. Closing the sealer ends this work.
      sealer.sealPending(signal).catch(() => undefined);
    },
    stop: async () => {
      stopped.abort();
      await run;
    },
    sealRest: async (signal) => {
      await sealer.sealPending(signal);
    },
  };
}

function openSealer({ lifecycle, logger }: CommandContext, options: SealerOptions): Sealer {
  const log = logger.child({ part: 'sealer' });
  const repeats = new Repeats();
  const sealer = createSealer({
    ...options,
    onError: (error) => {
      if (repeats.isDue(String(error))) log.error({ err: error }, 'sealing failed');
    },
  });
  lifecycle.add('sealer', () => sealer.close());
  return sealer;
}
