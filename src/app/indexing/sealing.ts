import { mayPostgresSearch } from '#config/config.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { createSealer, type Sealer, type SealerOptions } from '#search/seal/sealer.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Sealing of new inscriptions for searches. It does nothing if Postgres answers no searches. */
export interface Sealing {
  /** Seals in parallel with other work. A failure is left to `sealRest`. */
  sealBeside(signal: AbortSignal): void;
  /** Ends the continuous sealing: two concurrent sealers would make the last segment twice. */
  stop(): Promise<void>;
  /** Seals everything that is complete. */
  sealRest(signal: AbortSignal): Promise<void>;
}

const noSealing: Sealing = {
  sealBeside: () => undefined,
  stop: () => Promise.resolve(),
  sealRest: () => Promise.resolve(),
};

/** Begins to seal continuously, if Postgres answers searches. */
export function startSealing(context: CommandContext, options: SealerOptions): Sealing {
  const { config, lifecycle, logger } = context;
  const sealer = openSealer(context, options);
  if (!mayPostgresSearch(config)) return noSealing;
  const stopped = new AbortController();
  // sealing yields to the writer even without searches: reader and writer of blocks leave cores idle some of the time
  const run = lifecycle
    .run('sealing', (signal) => sealer.run(AbortSignal.any([signal, stopped.signal])))
    .catch((error: unknown) => logger.child({ part: 'sealer' }).error({ err: error }, 'sealing ended'));
  return {
    sealBeside: (signal) => {
      // unsealed parts are sealed at the end, which meets the same failure or none; closing the sealer ends it
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
