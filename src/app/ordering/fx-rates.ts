import { FxFile } from '#fx/fx-file.ts';
import type { FxRates } from '#fx/fx-rates.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Opens the exchange rates in the operator's file. Returns `null` if the setting is missing. */
export function openFxRates({
  config,
  logger,
}: Pick<CommandContext, 'config' | 'logger'>): (() => Promise<FxRates | null>) | null {
  const { fxRatesFile: path } = config;
  if (path === undefined) return null;
  const log = logger.child({ part: 'fx' });
  const file = new FxFile(path, {
    onProblem: (reason) => {
      if (reason === null) log.info('FX_RATES_FILE has valid rates again');
      else log.warn({ reason }, 'FX_RATES_FILE has no valid rates, so no amounts in dollars are shown');
    },
  });
  return () => file.rates();
}
